import { addSubject, addReason, getField, toQuote, quoteField } from '../shared/sentence.ts'
import type { EntryText, Sentence } from '../shared/sentence.ts'

const attemptSentence: Sentence = (e) => [
  'Tried',
  quoteField(e, 'tool'),
  ...addSubject(e),
  ...addReason(e),
]

/** The texts of entries without a screen of their own: calls and the daemon. */
export const entryText: EntryText = {
  kinds: { call: 'call', action: 'action', daemon: 'system', ledger: 'system', payload: 'system' },
  sentences: {
    'call.started': (e) => ['Started', quoteField(e, 'tool'), ...addSubject(e)],
    'call.done': (e) => [
      getField(e, 'effect') === 'read' ? 'Called' : 'Ran',
      quoteField(e, 'tool'),
      ...addSubject(e),
    ],
    'call.failed': attemptSentence,
    'call.refused': attemptSentence,
    'action.logged': (e) => [
      getField(e, 'phase') === 'verify' ? 'Verified' : 'Executed',
      quoteField(e, 'action'),
      ...addSubject(e),
    ],
    'request.refused': (e) => ['Refused a request from', toQuote(e.subject), ...addReason(e)],
    'daemon.started': (e) => ['cowork', quoteField(e, 'version'), 'started'],
    'daemon.stopped': () => ['cowork stopped'],
    'ledger.baselined': () => ['Recorded existing rows of the store'],
    'payload.erased': (e) => [
      'Erased the content of entry',
      toQuote(e.subject),
      ...addReason(e, 'reason'),
    ],
  },
}
