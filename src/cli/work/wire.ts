import type { StoryStatus } from '../choices.ts'

export type ItemSummary = {
  readonly kind?: 'story' | 'backlog' | 'sprint'
  /** Present if several projects were searched. */
  readonly project?: string
  readonly id: string
  readonly title?: string
  readonly summary?: string
  readonly status: string
  readonly sprint_id?: string
  readonly theme?: string
  readonly priority?: string
  readonly estimate?: number
  readonly depends_on?: readonly string[]
  readonly claimed_by?: string
  readonly until?: string
  readonly rev: number
}

export type StoryBrief = ItemSummary & { readonly status: StoryStatus; readonly sprint_id: string }

export type SprintBrief = ItemSummary & {
  readonly goal?: string
  readonly stories: number
  readonly done: number
}

export type Conflict = {
  readonly id: string
  readonly item: string
  readonly field: string
  readonly kind: string
  readonly at: string
  readonly ours?: unknown
  readonly theirs?: unknown
}

export type HistoryEntry = {
  readonly date: string
  readonly summary: string
  readonly at?: string
  readonly by?: string
}

/** The text of a backlog item, or of the one the story was made from; or why it is unreadable. */
type LongText = {
  readonly text?: string
  readonly text_sha256?: string
  readonly text_note?: string
}

type Comment = { readonly at: string; readonly by: string; readonly text: string }

export type Story = StoryBrief &
  LongText & {
    readonly notes?: string
    readonly acceptance?: readonly { readonly text: string; readonly done?: boolean }[]
    readonly paths?: readonly string[]
    readonly comments?: readonly Comment[]
    readonly lease?: { readonly agent: string; readonly until: string }
    readonly from_backlog?: string
    readonly needs: readonly Pick<ItemSummary, 'id' | 'status' | 'title'>[]
    readonly needed_by: readonly string[]
    readonly ready: boolean
    readonly conflicts: readonly Conflict[]
    readonly history: readonly HistoryEntry[]
  }

export type Sprint = ItemSummary & {
  readonly goal?: string
  readonly themes?: readonly string[]
  readonly start?: string
  readonly end?: string
}

export type BacklogItem = ItemSummary &
  LongText & {
    readonly related_sprints?: readonly string[]
    readonly promoted_to?: string
    readonly comments?: readonly Comment[]
  }

/** Why and since when acknowledged changes are not in the file. */
export type WriteFailure = { readonly since: string; readonly message: string }

export type ProjectBrief = {
  readonly project: string
  readonly description?: string
  readonly repo?: string
  readonly sprints: number
  readonly stories: number
  readonly backlog: number
  readonly conflicts: number
  readonly broken?: readonly {
    readonly line: number
    readonly column: number
    readonly message: string
  }[]
  readonly unwritten?: WriteFailure
}

export type ProjectStatus = {
  readonly project: string
  readonly active_sprints: readonly SprintBrief[]
  readonly in_progress: readonly StoryBrief[]
  readonly backlog_in_progress: readonly ItemSummary[]
  readonly counts: {
    readonly sprints: Readonly<Record<string, number>>
    readonly stories: Readonly<Record<string, number>>
    readonly backlog: Readonly<Record<string, number>>
    readonly ready: number
  }
  readonly conflicts: readonly Conflict[]
  readonly unwritten?: WriteFailure
}
