/** Types of work-index.yaml, with the field names of the file (W9). */

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

/**
 * A claim of one agent. `fence` grows with every claim, so that a write under an older claim is
 * detected (W20).
 */
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
  /** Unknown keys are preserved. */
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

/**
 * A person and an agent changed the same field: the agent's value stays until the conflict is
 * resolved (W5).
 */
export type Conflict = {
  readonly id: string
  /** The item and its field; the field is `*` if one side deleted the item. */
  readonly item: string
  readonly field: string
  /** The kind of the item: a story and a backlog item can have the same id. */
  readonly of?: ItemKind
  readonly base?: unknown
  readonly ours?: unknown
  readonly theirs?: unknown
  readonly kind: 'same_field' | 'delete_against_edit' | 'possible_revert'
  readonly at: string
  /** The path of the copy of the file as the person saved it, relative to the project folder. */
  readonly copy?: string
  /**
   * For a possible revert: the items that were not reverted, and the newest change the edit may be
   * based on.
   */
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
 * One committed step of a project with the previous values. Changes form the journal (W7),
 * reconstruct recent versions (W5) and update the cache.
 */
export type Change = {
  readonly seq: number
  readonly project: string
  readonly kind: ItemKind | 'history' | 'conflict'
  readonly id: string
  readonly op: 'add' | 'set' | 'remove' | 'move'
  /**
   * For `set`: the value of each field before and after; an absent value is undefined. For `add`
   * and `remove`: the full item.
   */
  readonly fields: Readonly<Record<string, { readonly from?: unknown; readonly to?: unknown }>>
  readonly sprint?: string
  readonly fromSprint?: string
  readonly at: number
  readonly by: string
  readonly call?: string
  /** An imported edit of the file by a person. */
  readonly external?: true
  /** A heartbeat, which does not rewrite the file (W7). */
  readonly quiet?: true
}
