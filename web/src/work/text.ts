import type { BacklogStatus, Conflict, Priority, Sprint, SprintStatus, Status } from './work.ts'

export const statusNames: Record<Status, string> = {
  planned: 'Planned',
  in_progress: 'In progress',
  blocked: 'Blocked',
  in_review: 'In review',
  done: 'Done',
  dropped: 'Dropped',
}

export const backlogNames: Record<BacklogStatus, string> = {
  todo: 'To do',
  in_progress: 'In progress',
  done: 'Done',
}

export const sprintNames: Record<SprintStatus, string> = {
  active: 'Active',
  planned: 'Planned',
  reference: 'Reference',
  completed: 'Completed',
}

export const priorityNames: Record<Priority, string> = {
  urgent: 'Urgent',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
}

export const sprintTitle = ({
  id,
  title,
}: Pick<Sprint, 'id'> & { title?: string | null }): string => title ?? id

/** Returns the title, with the id if another sprint has the same title. */
export const sprintLabel = (sprint: Sprint, sprints: readonly Sprint[]): string =>
  sprints.some((other) => other.id !== sprint.id && sprintTitle(other) === sprintTitle(sprint))
    ? `${sprintTitle(sprint)} (${sprint.id})`
    : sprintTitle(sprint)

const minute = 60_000
const hour = 60 * minute

/** Formats the remaining time of a claim: `4:12`, above an hour `2 h`. */
export function formatLease(until: string, now: number): string {
  const remainingMs = Date.parse(until) - now
  if (remainingMs <= 0) return 'expired'
  if (remainingMs >= hour) return `${Math.floor(remainingMs / hour)} h left`
  const seconds = String(Math.floor((remainingMs % minute) / 1000)).padStart(2, '0')
  return `${Math.floor(remainingMs / minute)}:${seconds} left`
}

/** The author of file edits, who is unknown. */
export const fileEditorId = 'person:file'

type Side = { readonly take: 'ours' | 'theirs'; readonly label: string; readonly says?: string }
export type ConflictLabels = {
  readonly title: string
  readonly says: string
  /** The choices, with the values if they differ. */
  readonly sides: readonly Side[]
}

/** Describes a conflict and its choices (W5). */
export function describeConflict({ kind, field, ours, theirs, copy }: Conflict): ConflictLabels {
  const copyNote = copy === undefined ? '' : ` A copy of the saved file is in ${copy}.`
  if (kind === 'possible_revert')
    return {
      title: 'Older version of the file saved',
      says: `Later changes were kept.${copyNote}`,
      sides: [{ take: 'ours', label: 'Dismiss' }],
    }
  if (kind === 'same_field')
    return {
      title: `${field} changed by both sides`,
      says: `A tool and an edit of the file changed the field at the same time. The value of the tool was kept.${copyNote}`,
      sides: [
        { take: 'ours', label: 'Keep current', says: formatValue(ours) },
        { take: 'theirs', label: 'Use file version', says: formatValue(theirs) },
      ],
    }
  const [keep, remove] = ours === undefined ? ['theirs', 'ours'] : ['ours', 'theirs']
  const deletion =
    ours === undefined ? 'A tool deleted the item' : 'The item was deleted in the file'
  const edit = ours === undefined ? 'it was edited in the file' : 'a tool edited it'
  return {
    title: 'Deleted and edited at the same time',
    says: `${deletion} while ${edit}. The item was kept.${copyNote}`,
    sides: [
      { take: keep as Side['take'], label: 'Keep item' },
      { take: remove as Side['take'], label: 'Remove item' },
    ],
  }
}

export function formatValue(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'nothing'
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map((one) => formatValue(one)).join('\n') || 'nothing'
  return JSON.stringify(value)
}
