import type { OverrideType, Severity } from '#base/override.ts'
import type { ApprovalDetail, GrantChoice, ApprovalItem, Outcome as Decided } from '../approvals.ts'
import type { GrantOption } from '../choices.ts'
import { startScreen } from '../screen/keys.ts'
import type { ScreenEvent, ScreenState, Size, Step as StepOf } from '../screen/keys.ts'
import { detailLines } from './detail.ts'
import { wrapLine } from './lines.ts'
import type { Line } from './lines.ts'

export type Override = { readonly type: OverrideType; readonly severity: Severity }

type ItemPrompt<Ask extends string, More> = {
  readonly ask: Ask
  readonly id: string
} & Readonly<More>

export type Prompt =
  | { readonly ask: 'filter'; readonly text: string }
  | ItemPrompt<'policy', { options: string[]; at: number }>
  | ItemPrompt<'access', { options: readonly (GrantOption | 'until')[]; at: number }>
  | ItemPrompt<'until', { text: string }>
  | ItemPrompt<'refusal', { at: number }>
  | ItemPrompt<'type', { at: number }>
  | ItemPrompt<'severity', { type: OverrideType; at: number }>
  | ItemPrompt<'reason', { override?: Override; grant?: GrantChoice; text: string }>
  | ItemPrompt<'changed', { change: unknown }>
  | ItemPrompt<'conflict', { version: string; why: string }>
  | ItemPrompt<'resolution', { text: string }>
  | ItemPrompt<'instructions', { resolution: string; text: string }>

export type State = ScreenState<'list' | 'detail' | 'help', Prompt, ApprovalDetail> & {
  /** Newest first. */
  readonly items: readonly ApprovalItem[]
  /** All pending items; whether more exist than were loaded; how many are loaded at most. */
  readonly total: number
  readonly isMore: boolean
  readonly limit: number
  readonly snoozed: ReadonlySet<string>
  /** Decided here: an older page must not show them again. */
  readonly decided: ReadonlySet<string>
  readonly lastHeld: string | undefined
  /** Until this time, decision keys count as repeats of a held key. */
  readonly quietUntil: number
}

export type Outcome = Omit<Decided, 'status'> & {
  readonly status: string
  /** Text for the person, if the status alone is not enough. */
  readonly note?: string
}

export type Event =
  | ScreenEvent
  | {
      readonly event: 'loaded'
      readonly items: readonly ApprovalItem[]
      readonly total: number
      readonly isMore: boolean
      /** The filter of the request: results of an older filter are ignored. */
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

type ItemEffect<Act extends string, More = object> = {
  readonly act: Act
  readonly id: string
} & Readonly<More>

export type Effect =
  | { readonly act: 'load' }
  | ItemEffect<'read' | 'edit' | 'policies' | 'access' | 'undo'>
  | ItemEffect<
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
  | ItemEffect<'resolve', { resolution: string; instructions?: string }>
  | { readonly act: 'leave'; readonly isInterrupted: boolean }

export type Step = StepOf<State, Effect>

/** Number of items to load first; more when the person reaches the end. */
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

/** Each item uses two lines. */
export const itemsOnScreen = (size: Size): number => Math.max(1, Math.floor(bodyRows(size) / 2))

export function readerLines({ detail, selected, size, now }: State): Line[] {
  if (!detail || detail.id !== selected) return [['Loading …']]
  return detailLines(detail, now).flatMap((line) => wrapLine(line, size.columns - 2))
}
