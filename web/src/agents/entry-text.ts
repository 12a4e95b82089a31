import type { Entry } from '../api/entry.ts'
import { because, said } from '../shared/sentence.ts'
import type { EntryText } from '../shared/sentence.ts'

/** `all`, or one agent, domain or server. */
function halted({ subject = 'all' }: Entry) {
  const [kind, ...rest] = subject.split(':')
  return kind === 'all' ? ['all agents'] : [kind, said(rest.join(':'))]
}

export const entryText: EntryText = {
  kinds: { trust: 'decision', permission: 'decision', halt: 'halt', 'halt.lifted': 'resume' },
  sentences: {
    'halt.set': (e) => ['Halted', ...halted(e), ...because(e, 'reason')],
    'halt.lifted': (e) => ['Resumed', ...halted(e)],
    'look_back.opened': (e) => ['Brought actions of', said(e.subject), 'to the inbox to look back'],
    'permission.granted': (e) => ['Allowed', said(e.subject), 'for longer'],
    'permission.used': (e) => ['Used one of the allowed uses of', said(e.subject)],
    'permission.revoked': () => ['Revoked a permission'],
    'permission.baselined': () => ['Recorded a permission from before'],
    'permission.redacted': () => ['Removed argument values from a standing permission'],
    'trust.created': (e) => ['Met', said(e.subject), 'in a new domain'],
    'trust.set': (e) => ['Set the trust of', said(e.subject), ...because(e, 'reason')],
    'trust.ended': (e) => ['Ended the credit of', said(e.subject)],
    'trust.forgiven': (e) => ['Forgave', said(e.subject), ...because(e, 'reason')],
    'trust.client_seen': (e) => ['Saw', said(e.subject), 'act through another client'],
    'trust.converted': () => ['Recorded credit in place of evidence'],
    'trust.baselined': () => ['Recorded a trust score from before'],
  },
}
