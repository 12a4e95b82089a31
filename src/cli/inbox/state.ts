import type { OverrideType, Severity } from '#base/override.ts'
import type { ApprovalDetail, GrantChoice, ApprovalItem, Outcome as Decided } from '../approvals.ts'
import type { GrantOption } from '../choices.ts'
import { startScreen } from '../screen/keys.ts'
import type { ScreenEvent, ScreenState, Size, Step as StepOf } from '../screen/keys.ts'
import { detailLines } from './detail.ts'
import { wrapLine } from './lines.ts'
import type { Line } from './lines.ts'

export type Override = { readonly type: OverrideType; readonly severity: Severity }

type Question<Ask extends string, More> = {
  readonly ask: Ask
  readonly id: string
} & Readonly<More>

export type Prompt =
  | { readonly ask: 'filter'; readonly text: string }
  | Question<'policy', { options: string[]; at: number }>
  | Question<'access', { options: readonly (GrantOption | 'until')[]; at: number }>
  | Question<'until', { text: string }>
  | Question<'refusal', { at: number }>
  | Question<'type', { at: number }>
  | Question<'severity', { type: OverrideType; at: number }>
  | Question<'reason', { override?: Override; grant?: GrantChoice; text: string }>
  | Question<'changed', { change: unknown }>
  | Question<'conflict', { version: string; why: string }>
  | Question<'resolution', { text: string }>
  | Question<'instructions', { resolution: string; text: string }>

export type State = ScreenState<'list' | 'detail' | 'help', Prompt, ApprovalDetail> & {
  /** Newest first, as the daemon gave them. */
  readonly items: readonly ApprovalItem[]
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
      readonly items: readonly ApprovalItem[]
      readonly total: number
      readonly isMore: boolean
      /** What was asked for: the answer to an older question is none to this one. */
      readonly filter: string
    }
  | { readonly event: 'read'; readonly detail: ApprovalDetail }
  | { readonly event: 'decided'; readonly outcome: Outcome; readonly now: number }
  | { readonly event: 'undone'; readonly outcome: Outcome }
  | { readonly event: 'policies'; readonly id: string; readonly options: string[] }
  | {
      readonly event: 'access'
      readonly id: string
      readonly options: readonly (GrantOption | 'until')[]
    }
  | { readonly event: 'edited'; readonly id: string; readonly change: unknown }

type Deed<Act extends string, More = object> = {
  readonly act: Act
  readonly id: string
} & Readonly<More>

export type Effect =
  | { readonly act: 'load' }
  | Deed<'read' | 'edit' | 'policies' | 'access' | 'undo'>
  | Deed<
      'decide',
      {
        decision: 'approve' | 'reject'
        reason?: string
        override?: Override
        change?: unknown
        policy?: string
        acknowledge?: string
        grant?: GrantChoice
        skip?: true
      }
    >
  | Deed<'resolve', { resolution: string; instructions?: string }>
  | { readonly act: 'leave'; readonly isInterrupted: boolean }

export type Step = StepOf<State, Effect>

/** How many are read at first; more once the person has come to their end. */
export const pageSize = 200

export const initialState = (size: Size, now: number): State => ({
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

export const visibleItems = ({ items, snoozed, decided }: State): readonly ApprovalItem[] =>
  items.filter(({ id }) => !snoozed.has(id) && !decided.has(id))

export const selectedItem = (state: State): ApprovalItem | undefined =>
  state.items.find(({ id }) => id === state.selected)

export const bodyRows = ({ rows }: Size): number => Math.max(1, rows - 4)

/** Each item takes two lines. */
export const itemsOnScreen = (size: Size): number => Math.max(1, Math.floor(bodyRows(size) / 2))

export function readerLines({ detail, selected, size, now }: State): Line[] {
  if (!detail || detail.id !== selected) return [['Reading …']]
  return detailLines(detail, now).flatMap((line) => wrapLine(line, size.columns - 2))
}
