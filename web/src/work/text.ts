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

/** By its title, unless another one has the same. */
export const sprintLabel = (sprint: Sprint, sprints: readonly Sprint[]): string =>
  sprints.some((other) => other.id !== sprint.id && sprintTitle(other) === sprintTitle(sprint))
    ? `${sprintTitle(sprint)} (${sprint.id})`
    : sprintTitle(sprint)

const minute = 60_000
const hour = 60 * minute

/** How long a claim still holds: `4:12`, then `2 h`. */
export function formatLease(until: string, now: number): string {
  const rest = Date.parse(until) - now
  if (rest <= 0) return 'ran out'
  if (rest >= hour) return `${Math.floor(rest / hour)} h left`
  const seconds = String(Math.floor((rest % minute) / 1000)).padStart(2, '0')
  return `${Math.floor(rest / minute)}:${seconds} left`
}

/** Who edits the file has no name in it. */
export const fileEditorId = 'person:file'

type Side = { readonly take: 'ours' | 'theirs'; readonly label: string; readonly says?: string }
export type ConflictLabels = {
  readonly title: string
  readonly says: string
  /** What one can choose; where the values matter, with them. */
  readonly sides: readonly Side[]
}

/** What happened, and what choosing each side does (W5). */
export function describeConflict({ kind, field, ours, theirs, copy }: Conflict): ConflictLabels {
  const kept = copy === undefined ? '' : ` The file as it was saved is kept in ${copy}.`
  if (kind === 'possible_revert')
    return {
      title: 'The file was saved in an older version',
      says: `What changed since has stayed.${kept}`,
      sides: [{ take: 'ours', label: 'Leave it so' }],
    }
  if (kind === 'same_field')
    return {
      title: `${field} was changed twice`,
      says: `By a tool, and in the file at the same time. What the tool wrote stands.${kept}`,
      sides: [
        { take: 'ours', label: 'Keep what stands', says: formatValue(ours) },
        { take: 'theirs', label: 'Take what the file said', says: formatValue(theirs) },
      ],
    }
  const [keep, remove] = ours === undefined ? ['theirs', 'ours'] : ['ours', 'theirs']
  const who = ours === undefined ? 'A tool removed it' : 'It was deleted in the file'
  const other = ours === undefined ? 'somebody changed it in the file' : 'a tool changed it'
  return {
    title: 'Removed on one side, changed on the other',
    says: `${who} while ${other}. It has stayed.${kept}`,
    sides: [
      { take: keep as Side['take'], label: 'Keep it' },
      { take: remove as Side['take'], label: 'Remove it' },
    ],
  }
}

export function formatValue(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'nothing'
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map((one) => formatValue(one)).join('\n') || 'nothing'
  return JSON.stringify(value)
}
