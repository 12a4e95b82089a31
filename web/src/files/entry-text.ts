import type { Entry } from '../api/entry.ts'
import { addAside, getField, toQuote, toWords, quoteField } from '../shared/sentence.ts'
import type { EntryText } from '../shared/sentence.ts'

function grantee(entry: Entry) {
  if (getField(entry, 'person') !== undefined) return 'the owner for one call'
  return getField(entry, 'agent_id') === '*'
    ? 'every agent'
    : (quoteField(entry, 'agent_id') ?? 'an agent')
}

export const entryText: EntryText = {
  kinds: { grant: 'access' },
  sentences: {
    'grant.requested': (e) => ['Requested access to', toQuote(e.subject)],
    'grant.made': (e) =>
      getField(e, 'permission') === 'deny'
        ? ['Blocked', toQuote(e.subject)]
        : ['Granted access to', toQuote(e.subject), 'to', grantee(e)],
    'grant.revoked': (e) => [
      'Revoked access to',
      toQuote(e.subject),
      ...addAside(toWords(getField(e, 'reason'))),
    ],
    'grant.repinned': (e) => ['Updated the grant for', toQuote(e.subject), 'of', grantee(e)],
    'grant.baselined': () => ['Recorded an existing grant'],
    'trash.purged': (e) => ['Permanently deleted', toQuote(e.subject)],
  },
}
