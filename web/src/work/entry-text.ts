import { aside, field, said, spaced, word } from '../shared/sentence.ts'
import type { EntryText, Sentence } from '../shared/sentence.ts'

/** What a change of an item comes to: a new status, a comment, or the fields that are different. */
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
    'work.renewed': (e) => ['Kept its claim of', said(e.subject)],
    'work.released': (e) => ['Released', said(e.subject)],
    'work.lease_expired': (e) => [word(e, 'agent'), 'let its claim of', said(e.subject), 'run out'],
    'work.merged': (e) => [
      'Took over what was edited in the file of',
      said(e.subject),
      ...(e.outcome === 'conflicts' ? ['with conflicts'] : []),
    ],
    'work.conflict_resolved': (e) => ['Settled a conflict about', said(e.subject)],
    'work.archived': (e) => ['Archived', said(e.subject)],
    'work.project_registered': (e) => ['Registered project', said(e.subject)],
    'work.project_unregistered': (e) => ['Unregistered project', said(e.subject)],
  },
}
