import { aside, field, said, spaced, word } from '../shared/sentence.ts'
import type { EntryText, Sentence } from '../shared/sentence.ts'

/** Formats a change of an item: a new status, a comment, or the changed fields. */
const changed: Sentence = (entry) => {
  const fields: unknown = field(entry, 'fields')
  const names = Array.isArray(fields) ? fields.map(String) : []
  if (entry.outcome === 'done') return ['Finished', said(entry.subject)]
  if (names.includes('status'))
    return ['Set', said(entry.subject), 'to', said(spaced(field(entry, 'status')))]
  if (names.join() === 'comments') return ['Commented on', said(entry.subject)]
  return ['Changed', said(entry.subject), ...aside(names.join(', '))]
}

export const entryText: EntryText = {
  kinds: { work: 'action' },
  sentences: {
    'work.added': (e) => ['Added', said(e.subject)],
    'work.changed': changed,
    'work.removed': (e) => ['Removed', said(e.subject)],
    'work.moved': (e) => ['Moved', said(e.subject), 'to', word(e, 'to')],
    'work.claimed': (e) => ['Claimed', said(e.subject)],
    'work.renewed': (e) => ['Renewed the claim of', said(e.subject)],
    'work.released': (e) => ['Released', said(e.subject)],
    'work.lease_expired': (e) => ['Expired the claim of', word(e, 'agent'), 'on', said(e.subject)],
    'work.merged': (e) => [
      'Imported file edits in',
      said(e.subject),
      ...(e.outcome === 'conflicts' ? ['with conflicts'] : []),
    ],
    'work.conflict_resolved': (e) => ['Resolved a conflict in', said(e.subject)],
    'work.archived': (e) => ['Archived', said(e.subject)],
    'work.project_registered': (e) => ['Registered project', said(e.subject)],
    'work.project_unregistered': (e) => ['Unregistered project', said(e.subject)],
  },
}
