import type { Detail, Item, Outcome as Decided } from '../approvals.ts'
import type { GrantWord, OverrideType, Severity } from '../choices.ts'
import type { GrantChoice } from '../allowance.ts'
import { startScreen } from '../screen/keys.ts'
import type { ScreenEvent, ScreenState, Size, Step as StepOf } from '../screen/keys.ts'
import { detailLines } from './detail.ts'
import { wrapped } from './lines.ts'
import type { Line } from './lines.ts'

export type Override = { readonly type: OverrideType; readonly severity: Severity }

/** What the person is asked at the foot of the screen. */
export type Prompt =
  | { readonly ask: 'filter'; readonly text: string }
  | { readonly ask: 'policy'; readonly id: string; readonly options: string[]; readonly at: number }
  | {
      readonly ask: 'access'
      readonly id: string
      readonly options: readonly (GrantWord | 'until')[]
      readonly at: number
    }
  | { readonly ask: 'until'; readonly id: string; readonly text: string }
  | { readonly ask: 'refusal'; readonly id: string; readonly at: number }
  | { readonly ask: 'type'; readonly id: string; readonly at: number }
  | {
      readonly ask: 'severity'
      readonly id: string
      readonly type: OverrideType
      readonly at: number
    }
  | {
      readonly ask: 'reason'
      readonly id: string
      readonly override?: Override
      readonly grant?: GrantChoice
      readonly text: string
    }
  | { readonly ask: 'changed'; readonly id: string; readonly change: unknown }
  | {
      readonly ask: 'conflict'
      readonly id: string
      readonly version: string
      readonly why: string
    }
  | { readonly ask: 'resolution'; readonly id: string; readonly text: string }
  | {
      readonly ask: 'instructions'
      readonly id: string
      readonly resolution: string
      readonly text: string
    }

export type State = ScreenState<'list' | 'detail' | 'help', Prompt, Detail> & {
  /** Newest first, as the daemon gave them. */
  readonly items: readonly Item[]
  /** How many wait in all, whether there are more than were read, and how many are asked for. */
  readonly total: number
  readonly isMore: boolean
  readonly limit: number
  readonly snoozed: ReadonlySet<string>
  /** Decided here: a page that was read before must not bring them back. */
  readonly decided: ReadonlySet<string>
  readonly lastHeld: string | undefined
  /** Until then keys that decide are taken for a key held down. */
  readonly quietUntil: number
}

export type Outcome = Omit<Decided, 'status'> & {
  readonly status: string
  /** What is said of it, where the status alone does not. */
  readonly note?: string
}

export type Event =
  | ScreenEvent
  | {
      readonly event: 'loaded'
      readonly items: readonly Item[]
      readonly total: number
      readonly isMore: boolean
      /** What was asked for: the answer to an older question is none to this one. */
      readonly filter: string
    }
  | { readonly event: 'read'; readonly detail: Detail }
  | { readonly event: 'decided'; readonly outcome: Outcome; readonly now: number }
  | { readonly event: 'undone'; readonly outcome: Outcome }
  | { readonly event: 'policies'; readonly id: string; readonly options: string[] }
  | {
      readonly event: 'access'
      readonly id: string
      readonly options: readonly (GrantWord | 'until')[]
    }
  | { readonly event: 'edited'; readonly id: string; readonly change: unknown }

export type Effect =
  | { readonly act: 'load' }
  | { readonly act: 'read'; readonly id: string }
  | { readonly act: 'edit'; readonly id: string }
  | { readonly act: 'policies'; readonly id: string }
  | { readonly act: 'access'; readonly id: string }
  | { readonly act: 'undo'; readonly id: string }
  | {
      readonly act: 'decide'
      readonly id: string
      readonly decision: 'approve' | 'reject'
      readonly reason?: string
      readonly override?: Override
      readonly change?: unknown
      readonly policy?: string
      readonly acknowledge?: string
      readonly grant?: GrantChoice
      readonly skip?: true
    }
  | {
      readonly act: 'resolve'
      readonly id: string
      readonly resolution: string
      readonly instructions?: string
    }
  | { readonly act: 'leave'; readonly isInterrupted: boolean }

export type Step = StepOf<State, Effect>

/** How many are read at first; more once the person has come to their end. */
export const pageSize = 200

export const startState = (size: Size, now: number): State => ({
  ...startScreen,
  size,
  now,
  view: 'list',
  items: [],
  total: 0,
  isMore: false,
  limit: pageSize,
  snoozed: new Set(),
  decided: new Set(),
  lastHeld: undefined,
  quietUntil: 0,
})

export const visible = ({ items, snoozed, decided }: State): readonly Item[] =>
  items.filter(({ id }) => !snoozed.has(id) && !decided.has(id))

export const selectedItem = (state: State): Item | undefined =>
  state.items.find(({ id }) => id === state.selected)

/** Lines between head and foot. */
export const bodyRows = ({ rows }: Size): number => Math.max(1, rows - 4)

/** Each item takes two lines. */
export const itemsOnScreen = (size: Size): number => Math.max(1, Math.floor(bodyRows(size) / 2))

/** What there is to read of the selected one, in lines of the screen. */
export function readable({ detail, selected, size, now }: State): Line[] {
  if (!detail || detail.id !== selected) return [['Reading …']]
  return detailLines(detail, now).flatMap((line) => wrapped(line, size.columns - 2))
}
