import type { Entry } from '../api/entry.ts'
import { aside, field, said, spaced, word } from '../shared/sentence.ts'
import type { EntryText } from '../shared/sentence.ts'

function grantee(entry: Entry) {
  if (field(entry, 'person') !== undefined) return 'its owner for one call'
  return field(entry, 'agent_id') === '*' ? 'every agent' : (word(entry, 'agent_id') ?? 'an agent')
}

export const entryText: EntryText = {
  kinds: { grant: 'access' },
  sentences: {
    'grant.requested': (e) => ['Asks for access to', said(e.subject)],
    'grant.made': (e) =>
      field(e, 'permission') === 'deny'
        ? ['Closed', said(e.subject), 'for good']
        : ['Opened', said(e.subject), 'to', grantee(e)],
    'grant.revoked': (e) => [
      'Revoked access to',
      said(e.subject),
      ...aside(spaced(field(e, 'reason'))),
    ],
    'grant.repinned': (e) => ['Changed', said(e.subject), 'which stays open to', grantee(e)],
    'grant.baselined': () => ['Recorded a grant from before'],
    'trash.purged': (e) => ['Deleted for good', said(e.subject)],
  },
}
