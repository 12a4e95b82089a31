import type { Entry } from '../api/entry.ts'
import { because, said } from '../shared/sentence.ts'
import type { EntryText } from '../shared/sentence.ts'

/** Formats the scope of a halt: `all`, or one agent, domain or server. */
function haltScopeParts({ subject = 'all' }: Entry) {
  const [kind, ...rest] = subject.split(':')
  return kind === 'all' ? ['all agents'] : [kind, said(rest.join(':'))]
}

export const entryText: EntryText = {
  kinds: { trust: 'decision', permission: 'decision', halt: 'halt', 'halt.lifted': 'resume' },
  sentences: {
    'halt.set': (e) => ['Halted', ...haltScopeParts(e), ...because(e, 'reason')],
    'halt.lifted': (e) => ['Resumed', ...haltScopeParts(e)],
    'look_back.opened': (e) => ['Added past actions of', said(e.subject), 'to the inbox'],
    'permission.granted': (e) => ['Granted a standing permission to', said(e.subject)],
    'permission.used': (e) => ['Used a standing permission of', said(e.subject)],
    'permission.revoked': () => ['Revoked a standing permission'],
    'permission.baselined': () => ['Imported an existing permission'],
    'permission.redacted': () => ['Removed argument values from a standing permission'],
    'trust.created': (e) => ['Started trust for', said(e.subject), 'in a new domain'],
    'trust.set': (e) => ['Set trust of', said(e.subject), ...because(e, 'reason')],
    'trust.ended': (e) => ['Cleared the credit of', said(e.subject)],
    'trust.forgiven': (e) => ['Forgave', said(e.subject), ...because(e, 'reason')],
    'trust.client_seen': (e) => ['Saw', said(e.subject), 'on another client'],
    'trust.converted': () => ['Converted evidence to credit'],
    'trust.baselined': () => ['Imported an existing trust score'],
  },
}
