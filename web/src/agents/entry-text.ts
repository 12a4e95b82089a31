import type { Entry } from '../api/entry.ts'
import { addReason, toQuote } from '../shared/sentence.ts'
import type { EntryText } from '../shared/sentence.ts'

/** Formats the scope of a halt: `all`, or one agent, domain or server. */
function haltScopeParts({ subject = 'all' }: Entry) {
  const [kind, ...rest] = subject.split(':')
  return kind === 'all' ? ['all agents'] : [kind, toQuote(rest.join(':'))]
}

export const entryText: EntryText = {
  kinds: { trust: 'decision', permission: 'decision', halt: 'halt', 'halt.lifted': 'resume' },
  sentences: {
    'halt.set': (e) => ['Halted', ...haltScopeParts(e), ...addReason(e, 'reason')],
    'halt.lifted': (e) => ['Resumed', ...haltScopeParts(e)],
    'look_back.opened': (e) => ['Added past actions of', toQuote(e.subject), 'to the inbox'],
    'permission.granted': (e) => ['Granted a standing permission to', toQuote(e.subject)],
    'permission.used': (e) => ['Used a standing permission of', toQuote(e.subject)],
    'permission.revoked': () => ['Revoked a standing permission'],
    'permission.baselined': () => ['Imported an existing permission'],
    'permission.redacted': () => ['Removed argument values from a standing permission'],
    'trust.created': (e) => ['Started trust for', toQuote(e.subject), 'in a new domain'],
    'trust.set': (e) => ['Set trust of', toQuote(e.subject), ...addReason(e, 'reason')],
    'trust.ended': (e) => ['Cleared the credit of', toQuote(e.subject)],
    'trust.forgiven': (e) => ['Forgave', toQuote(e.subject), ...addReason(e, 'reason')],
    'trust.client_seen': (e) => ['Saw', toQuote(e.subject), 'on another client'],
    'trust.converted': () => ['Converted evidence to credit'],
    'trust.baselined': () => ['Imported an existing trust score'],
  },
}
