/** Words of the work domain: what a work-index.yaml holds, in the file's own names (W9). */

export const sprintStatuses = ['planned', 'active', 'reference', 'completed'] as const
export const storyStatuses = [
  'planned',
  'in_progress',
  'blocked',
  'in_review',
  'done',
  'dropped',
] as const
export const backlogStatuses = ['todo', 'in_progress', 'done'] as const
export const priorities = ['urgent', 'high', 'medium', 'low'] as const

type SprintStatus = (typeof sprintStatuses)[number]
export type StoryStatus = (typeof storyStatuses)[number]
type BacklogStatus = (typeof backlogStatuses)[number]
export type Priority = (typeof priorities)[number]

/** Held by one agent at a time; `fence` grows with every claim, so that a late holder is known as late (W20). */
export type Lease = {
  readonly agent: string
  readonly session: string
  readonly since: string
  readonly until: string
  readonly fence: number
}

export type Comment = { readonly at: string; readonly by: string; readonly text: string }
type Acceptance = { readonly text: string; readonly done?: boolean | undefined }

type Tracked = {
  readonly rev?: number
  readonly updated?: string
  readonly by?: string
  /** Keys that cowork does not know are kept as they are. */
  readonly [other: string]: unknown
}

export type Story = Tracked & {
  readonly id: string
  readonly title?: string
  readonly status: StoryStatus
  readonly notes?: string
  readonly priority?: Priority
  readonly estimate?: number
  readonly depends_on?: readonly string[]
  readonly acceptance?: readonly Acceptance[]
  readonly paths?: readonly string[]
  readonly comments?: readonly Comment[]
  readonly lease?: Lease
  readonly from_backlog?: string
}

export type Sprint = Tracked & {
  readonly id: string
  readonly title?: string
  readonly file?: string
  readonly status: SprintStatus
  readonly goal?: string
  readonly themes?: readonly string[]
  readonly start?: string
  readonly end?: string
}

export type BacklogItem = Tracked & {
  readonly id: string
  readonly theme?: string
  readonly summary: string
  readonly status: BacklogStatus
  readonly priority?: Priority
  readonly related_sprints?: readonly string[]
  readonly promoted_to?: string
}

export type HistoryEntry = {
  readonly date: string
  readonly summary: string
  readonly related_sprints?: readonly string[]
  readonly at?: string
  readonly by?: string
  readonly kind?: string
  readonly ref?: string
  readonly [other: string]: unknown
}

/** A person and an agent changed the same field: the agent's value stands until somebody settles it (W5). */
export type Conflict = {
  readonly id: string
  /** The item, and its field; `*` where one side deleted it. */
  readonly item: string
  readonly field: string
  /** Which kind of item: a story and a backlog item may have the same id. */
  readonly of?: ItemKind
  readonly base?: unknown
  readonly ours?: unknown
  readonly theirs?: unknown
  readonly kind: 'same_field' | 'delete_against_edit' | 'possible_revert'
  readonly at: string
  /** The whole file as the person saved it, below the project's folder. */
  readonly copy?: string
  /** Of a possible revert: what of it was not followed, and the change up to which it may have been made. */
  readonly items?: readonly string[]
  readonly seq?: number
  readonly [other: string]: unknown
}

export type ItemKind = 'sprint' | 'story' | 'backlog'

export type WorkIndex = {
  readonly version: number
  readonly next_story?: number
  readonly sprints: readonly (Sprint & { readonly stories?: readonly Story[] })[]
  readonly backlog: readonly BacklogItem[]
  readonly history: readonly HistoryEntry[]
  readonly conflicts: readonly Conflict[]
}

/**
 * One committed step of a project, with what was before: the journal (W7), the way back to any recent
 * version (W5), and what readers in memory catch up by.
 */
export type Change = {
  readonly seq: number
  readonly project: string
  readonly kind: ItemKind | 'history' | 'conflict'
  readonly id: string
  readonly op: 'add' | 'set' | 'remove' | 'move'
  /** Of `set`: each field's value before and after; `undefined` as absent. Of `add` and `remove`: the whole item. */
  readonly fields: Readonly<Record<string, { readonly from?: unknown; readonly to?: unknown }>>
  readonly sprint?: string
  readonly fromSprint?: string
  readonly at: number
  readonly by: string
  readonly call?: string
  /** A person's edit of the file that was taken over. */
  readonly external?: true
  /** Not for the file: a heartbeat (W7). */
  readonly quiet?: true
}
