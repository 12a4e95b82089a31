import { addAside, getField, toQuote, toWords, quoteField } from '../shared/sentence.ts'
import type { EntryText, Sentence } from '../shared/sentence.ts'

/** Formats a change of an item: a new status, a comment, or the changed fields. */
const changed: Sentence = (entry) => {
  const fields: unknown = getField(entry, 'fields')
  const names = Array.isArray(fields) ? fields.map(String) : []
  if (entry.outcome === 'done') return ['Finished', toQuote(entry.subject)]
  if (names.includes('status'))
    return ['Set', toQuote(entry.subject), 'to', toQuote(toWords(getField(entry, 'status')))]
  if (names.join() === 'comments') return ['Commented on', toQuote(entry.subject)]
  return ['Changed', toQuote(entry.subject), ...addAside(names.join(', '))]
}

export const entryText: EntryText = {
  kinds: { work: 'action' },
  sentences: {
    'work.added': (e) => ['Added', toQuote(e.subject)],
    'work.changed': changed,
    'work.removed': (e) => ['Removed', toQuote(e.subject)],
    'work.moved': (e) => ['Moved', toQuote(e.subject), 'to', quoteField(e, 'to')],
    'work.claimed': (e) => ['Claimed', toQuote(e.subject)],
    'work.renewed': (e) => ['Renewed the claim of', toQuote(e.subject)],
    'work.released': (e) => ['Released', toQuote(e.subject)],
    'work.lease_expired': (e) => [
      'Expired the claim of',
      quoteField(e, 'agent'),
      'on',
      toQuote(e.subject),
    ],
    'work.merged': (e) => [
      'Imported file edits in',
      toQuote(e.subject),
      ...(e.outcome === 'conflicts' ? ['with conflicts'] : []),
    ],
    'work.conflict_resolved': (e) => ['Resolved a conflict in', toQuote(e.subject)],
    'work.archived': (e) => ['Archived', toQuote(e.subject)],
    'work.project_registered': (e) => ['Registered project', toQuote(e.subject)],
    'work.project_unregistered': (e) => ['Unregistered project', toQuote(e.subject)],
  },
}
