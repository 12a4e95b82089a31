/** Types of the work items that the work tools return (W10, W20). */

export const statuses = [
  'planned',
  'in_progress',
  'blocked',
  'in_review',
  'done',
  'dropped',
] as const
export type Status = (typeof statuses)[number]

export const priorities = ['urgent', 'high', 'medium', 'low'] as const
export type Priority = (typeof priorities)[number]

export type Project = {
  readonly project: string
  readonly description?: string
  readonly sprints: number
  readonly stories: number
  readonly backlog: number
  readonly conflicts: number
  /** Problems of an invalid file. */
  readonly broken?: readonly {
    readonly line: number
    readonly column: number
    readonly message: string
  }[]
}
export type ProjectDetail = Project & { readonly folder: string }

export type SprintStatus = 'planned' | 'active' | 'reference' | 'completed'
export type Sprint = {
  readonly id: string
  readonly title?: string | null
  readonly status: SprintStatus
  readonly goal?: string | null
  readonly start?: string
  readonly end?: string
  readonly rev: number
}

export type Card = {
  readonly id: string
  readonly title?: string
  readonly status: Status
  readonly sprint_id: string
  readonly priority?: Priority
  readonly estimate?: number
  readonly depends_on?: readonly string[]
  readonly claimed_by?: string
  readonly until?: string
  readonly rev: number
}

export type Lease = { readonly agent: string; readonly since: string; readonly until: string }
export type Acceptance = { readonly text: string; readonly done?: boolean }
export type Comment = { readonly at: string; readonly by: string; readonly text: string }
/** A dependency; `gone` if the story was deleted. */
type Need = {
  readonly id: string
  readonly status: Status | 'gone'
  readonly title?: string
}

/** The text of a backlog item in its own file (W25), or why it is unreadable. */
type LongText = {
  readonly text?: string
  readonly text_sha256?: string
  readonly text_note?: string
}

/** A story in full; its text is that of its backlog item. */
export type Story = Omit<Card, 'claimed_by' | 'until'> &
  LongText & {
    readonly notes?: string | null
    readonly acceptance?: readonly Acceptance[]
    readonly paths?: readonly string[]
    readonly comments?: readonly Comment[]
    readonly lease?: Lease
    readonly from_backlog?: string
    readonly updated?: string
    readonly by?: string
    readonly needs: readonly Need[]
    readonly needed_by: readonly string[]
    readonly ready: boolean
    readonly conflicts: readonly Conflict[]
  }

export const backlogStatuses = ['todo', 'in_progress', 'done'] as const
export type BacklogStatus = (typeof backlogStatuses)[number]
export type BacklogItem = {
  readonly id: string
  readonly summary: string
  readonly status: BacklogStatus
  readonly theme?: string | null
  readonly priority?: Priority
  readonly promoted_to?: string
  readonly rev: number
}

export type BacklogWhole = BacklogItem & LongText

export type ConflictBrief = {
  readonly id: string
  readonly item: string
  readonly field: string
  readonly kind: 'same_field' | 'delete_against_edit' | 'possible_revert'
  readonly at: string
}
/** A conflict: `ours` is the current value, `theirs` the file version (W5). */
export type Conflict = ConflictBrief & {
  readonly ours?: unknown
  readonly theirs?: unknown
  readonly copy?: string
}

export type Hit = { readonly project?: string } & (
  | ({ readonly kind: 'story' } & Card)
  | ({ readonly kind: 'backlog' } & BacklogItem)
  | ({ readonly kind: 'sprint' } & Sprint)
)
