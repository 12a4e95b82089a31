import { splitGraphemes } from '../inbox/lines.ts'

export type Size = { readonly rows: number; readonly columns: number }

export type Key = { readonly name: string; readonly text?: string | undefined }

export type Message = { readonly text: string; readonly tone: 'good' | 'bad' | 'calm' }

export type ScreenEvent =
  | { readonly event: 'key'; readonly key: Key; readonly now: number }
  | { readonly event: 'tick'; readonly now: number }
  | { readonly event: 'resized'; readonly size: Size }
  | { readonly event: 'unreachable'; readonly message: string }
  | { readonly event: 'message'; readonly message: Message }

export type Step<State, Effect> = { readonly state: State; readonly effects: readonly Effect[] }

export type ScreenState<View, Prompt, Detail> = {
  readonly size: Size
  readonly now: number
  readonly view: View
  readonly isLoaded: boolean
  /** Error message while the daemon is unreachable. */
  readonly offline: string | undefined
  readonly filter: string
  /** By id, so that new or moved items do not change the selection. */
  readonly selected: string | undefined
  readonly detail: Detail | undefined
  readonly scroll: number
  readonly prompt: Prompt | undefined
  readonly message: Message | undefined
  readonly isBusy: boolean
  readonly isPasting: boolean
}

export const startScreen = {
  isLoaded: false,
  offline: undefined,
  filter: '',
  selected: undefined,
  detail: undefined,
  scroll: 0,
  prompt: undefined,
  message: undefined,
  isBusy: false,
  isPasting: false,
} as const

export const noEffects = <State>(state: State): Step<State, never> => ({ state, effects: [] })

export const showMessage = <State extends { readonly message: Message | undefined }>(
  state: State,
  text: string,
  tone: Message['tone'] = 'calm',
): Step<State, never> => noEffects({ ...state, message: { text, tone } })

type Selecting = { readonly selected: string | undefined; readonly scroll: number }

export function openSelected<State extends Selecting & { readonly view: string }>(
  state: State,
): Step<State, { readonly act: 'read'; readonly id: string }> {
  const id = state.selected
  if (id === undefined) return noEffects(state)
  return { state: { ...state, view: 'detail', scroll: 0 }, effects: [{ act: 'read', id }] }
}

export const scrollTo = <State extends Selecting>(
  state: State,
  to: number,
  last: number,
): State => ({
  ...state,
  scroll: Math.min(Math.max(to, 0), Math.max(0, last)),
})

/** Applies a key to a choice: moves the selection, or takes an option. */
export function applyChoiceKey(
  at: number,
  { length }: readonly unknown[],
  { name }: Key,
): { readonly at: number } | { readonly taken: number } | undefined {
  if (name === 'j' || name === 'down') return { at: (at + 1) % length }
  if (name === 'k' || name === 'up') return { at: (at - 1 + length) % length }
  const taken = name === 'enter' ? at : Number(name) - 1
  return taken >= 0 && taken < length ? { taken } : undefined
}

/** Applies a key to a text input; `pastedBreak` replaces pasted line breaks. */
export function applyTextKey(text: string, key: Key, pastedBreak = ''): string {
  if (key.name === 'backspace') return splitGraphemes(text).slice(0, -1).join('')
  if (key.name === 'ctrl-u') return ''
  return text + (key.name === 'enter' ? pastedBreak : (key.text ?? ''))
}

type KeyAction<State, Effect> = (state: State) => Step<State, Effect>
type Keys<State, Effect> = Readonly<Record<string, KeyAction<State, Effect>>>

export function navigationKeys<State, Effect>(
  by: (state: State, count: number) => Step<State, Effect>,
  page: (state: State) => number,
): Keys<State, Effect> {
  const down = (state: State) => by(state, 1)
  const up = (state: State) => by(state, -1)
  const pagedown = (state: State) => by(state, page(state))
  const pageup = (state: State) => by(state, -page(state))
  const home = (state: State) => by(state, -Infinity)
  const end = (state: State) => by(state, Infinity)
  const named = { down, up, pagedown, pageup, home, end }
  return { ...named, j: down, k: up, space: pagedown, g: home, G: end }
}

export const readerKeys = <State, Effect>(
  scrolled: (state: State, by: number) => State,
  page: (state: State) => number,
  back: KeyAction<State, Effect>,
): Keys<State, Effect> => ({
  ...navigationKeys<State, Effect>((state, by) => noEffects(scrolled(state, by)), page),
  enter: back,
  left: back,
  h: back,
  escape: back,
  q: back,
})

/** Key handlers of a screen: for its prompt, its first view and its detail view. */
type Handlers<State, Prompt, Effect> = {
  readonly answered: (state: State, prompt: Prompt, key: Key) => Step<State, Effect>
  readonly first: Keys<State, Effect>
  readonly detail: Keys<State, Effect>
  readonly back: KeyAction<State, Effect>
}

export function handleKey<Prompt, State extends ScreenState<string, Prompt, unknown>, Effect>(
  state: State,
  key: Key,
  { answered, first, detail, back }: Handlers<State, Prompt, Effect>,
): Step<State, Effect | { act: 'leave'; isInterrupted: true }> {
  if (key.name === 'ctrl-c') return { state, effects: [{ act: 'leave', isInterrupted: true }] }
  if (key.name === 'paste-start') return noEffects({ ...state, isPasting: true })
  if (key.name === 'paste-end') return noEffects({ ...state, isPasting: false })
  if (state.prompt) return answered(state, state.prompt, key)
  // Pasted text is not a command.
  if (state.isPasting) return noEffects(state)
  const next = { ...state, message: undefined }
  if (state.view === 'help') return back(next)
  const action = (state.view === 'detail' ? detail : first)[key.name]
  return action ? action(next) : noEffects(next)
}
