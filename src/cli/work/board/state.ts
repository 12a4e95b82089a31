import { storyStatuses } from '../../choices.ts'
import type { StoryStatus } from '../../choices.ts'
import { wrapLine } from '../../inbox/lines.ts'
import type { Line } from '../../inbox/lines.ts'
import { startScreen } from '../../screen/keys.ts'
import type { ScreenEvent, ScreenState, Size, Step as StepOf } from '../../screen/keys.ts'
import { storyLines } from '../item-lines.ts'
import type { SprintBrief, Story, StoryBrief } from '../wire.ts'

/**
 * The target of a choice: a column or sprint for the selected story, or another sprint or project
 * to show.
 */
export type Target =
  | { readonly status: StoryStatus }
  | { readonly sprint: string }
  | { readonly show: string }
  | { readonly project: string }

export type Prompt =
  | { readonly ask: 'filter'; readonly text: string }
  | { readonly ask: 'title'; readonly text: string }
  | { readonly ask: 'done' | 'comment'; readonly id: string; readonly text: string }
  | {
      readonly ask: 'move' | 'sprint' | 'project'
      readonly id?: string
      readonly options: readonly { readonly label: string; readonly to: Target }[]
      readonly at: number
    }

export type State = ScreenState<'board' | 'detail' | 'help', Prompt, Story> & {
  readonly project: string
  readonly projects: readonly string[]
  /** The shown sprint; undefined until the default one is chosen. */
  readonly sprint: string | undefined
  readonly sprints: readonly SprintBrief[]
  /** In the order of the file. */
  readonly stories: readonly StoryBrief[]
  /** The file is invalid and this is its last valid version (W6). */
  readonly isStale: boolean
}

export type Event =
  | ScreenEvent
  | {
      readonly event: 'loaded'
      readonly project: string
      readonly sprint: string | undefined
      readonly sprints: readonly SprintBrief[]
      readonly stories: readonly StoryBrief[]
      readonly isStale: boolean
    }
  | { readonly event: 'read'; readonly story: Story }
  /** A change is done; `id` is the changed or new story. */
  | { readonly event: 'changed'; readonly text: string; readonly id?: string }

type BoardTool =
  | `worksync_${'add' | 'update'}_story`
  | `worksync_${'claim' | 'comment' | 'done' | 'move' | 'release'}`

export type Effect =
  /** Checks the ledger for changes and loads them. */
  | { readonly act: 'look' }
  | { readonly act: 'load' }
  | { readonly act: 'read'; readonly id: string }
  | {
      readonly act: 'call'
      readonly tool: BoardTool
      readonly args: object
      readonly text: string
    }
  | { readonly act: 'leave'; readonly isInterrupted: boolean }

export type Step = StepOf<State, Effect>

export const initialState = (
  size: Size,
  now: number,
  start: Pick<State, 'project' | 'projects' | 'sprint'>,
): State => ({
  ...startScreen,
  ...start,
  size,
  now,
  view: 'board',
  sprints: [],
  stories: [],
  isStale: false,
})

/** Returns the first active sprint, else the first planned one, else the last one. */
export const defaultSprint = (sprints: readonly SprintBrief[]): string | undefined =>
  (
    sprints.find(({ status }) => status === 'active') ??
    sprints.find(({ status }) => status === 'planned') ??
    sprints.at(-1)
  )?.id

export type Column = { readonly status: StoryStatus; readonly stories: readonly StoryBrief[] }

/** Builds one column per status; the dropped column only if it is not empty. */
export function buildColumns({ stories, filter }: Pick<State, 'stories' | 'filter'>): Column[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const matching = stories.filter(({ id, title = '' }) => {
    const text = `${id} ${title}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return storyStatuses
    .map((status) => ({ status, stories: matching.filter((story) => story.status === status) }))
    .filter(
      ({ status, stories: columnStories }) => status !== 'dropped' || columnStories.length > 0,
    )
}

export function findPosition(
  columns: readonly Column[],
  selected: string | undefined,
): { readonly column: number; readonly row: number } | undefined {
  for (const [column, { stories }] of columns.entries()) {
    const row = stories.findIndex(({ id }) => id === selected)
    if (row !== -1) return { column, row }
  }
  return undefined
}

export const selectedStory = ({ stories, selected }: State): StoryBrief | undefined =>
  stories.find(({ id }) => id === selected)

/** Rows without header, column names and footer. */
export const bodyRows = ({ rows }: Size): number => Math.max(1, rows - 6)

/** Each story takes two lines. */
export const storiesInColumn = (size: Size): number => Math.max(1, Math.floor(bodyRows(size) / 2))

export function readerLines({ detail, selected, size, now }: State): Line[] {
  if (!detail || detail.id !== selected) return [['Loading …']]
  return storyLines(detail, now).flatMap((line) => wrapLine(line, size.columns - 2))
}
