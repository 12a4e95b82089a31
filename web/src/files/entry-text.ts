import type { Entry } from '../api/entry.ts'
import { addAside, getField, toQuote, toWords, quoteField } from '../shared/sentence.ts'
import type { EntryText } from '../shared/sentence.ts'

function grantee(entry: Entry) {
  if (getField(entry, 'person') !== undefined) return 'its owner for one call'
  return getField(entry, 'agent_id') === '*'
    ? 'every agent'
    : (quoteField(entry, 'agent_id') ?? 'an agent')
}

export const entryText: EntryText = {
  kinds: { grant: 'access' },
  sentences: {
    'grant.requested': (e) => ['Asks for access to', toQuote(e.subject)],
    'grant.made': (e) =>
      getField(e, 'permission') === 'deny'
        ? ['Closed', toQuote(e.subject), 'for good']
        : ['Opened', toQuote(e.subject), 'to', grantee(e)],
    'grant.revoked': (e) => [
      'Revoked access to',
      toQuote(e.subject),
      ...addAside(toWords(getField(e, 'reason'))),
    ],
    'grant.repinned': (e) => ['Changed', toQuote(e.subject), 'which stays open to', grantee(e)],
    'grant.baselined': () => ['Recorded a grant from before'],
    'trash.purged': (e) => ['Deleted for good', toQuote(e.subject)],
  },
}
