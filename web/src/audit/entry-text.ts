import { about, because, field, said, word } from '../shared/sentence.ts'
import type { EntryText, Sentence } from '../shared/sentence.ts'

const attemptSentence: Sentence = (e) => ['Tried', word(e, 'tool'), ...about(e), ...because(e)]

/** The texts of entries without a screen of their own: calls and the daemon. */
export const entryText: EntryText = {
  kinds: { call: 'call', action: 'action', daemon: 'system', ledger: 'system', payload: 'system' },
  sentences: {
    'call.started': (e) => ['Started', word(e, 'tool'), ...about(e)],
    'call.done': (e) => [
      field(e, 'effect') === 'read' ? 'Called' : 'Ran',
      word(e, 'tool'),
      ...about(e),
    ],
    'call.failed': attemptSentence,
    'call.refused': attemptSentence,
    'action.logged': (e) => [
      field(e, 'phase') === 'verify' ? 'Verified' : 'Executed',
      word(e, 'action'),
      ...about(e),
    ],
    'request.refused': (e) => ['Refused a request from', said(e.subject), ...because(e)],
    'daemon.started': (e) => ['cowork', word(e, 'version'), 'started'],
    'daemon.stopped': () => ['cowork stopped'],
    'ledger.baselined': () => ['Recorded existing rows of the store'],
    'payload.erased': (e) => [
      'Erased the content of entry',
      said(e.subject),
      ...because(e, 'reason'),
    ],
  },
}
