export type Size = { readonly rows: number; readonly columns: number }

export type Key = { readonly name: string; readonly text?: string | undefined }

export type Message = { readonly text: string; readonly tone: 'good' | 'bad' | 'calm' }

/** What happens on every screen, whatever it shows. */
export type ScreenEvent =
  | { readonly event: 'key'; readonly key: Key; readonly now: number }
  | { readonly event: 'tick'; readonly now: number }
  | { readonly event: 'resized'; readonly size: Size }
  | { readonly event: 'unreachable'; readonly message: string }
  | { readonly event: 'told'; readonly message: Message }

/** The next state, and what is to be done. */
export type Step<State, Effect> = { readonly state: State; readonly effects: readonly Effect[] }

type Act<State, Effect> = (state: State) => Step<State, Effect>
type Keys<State, Effect> = Readonly<Record<string, Act<State, Effect>>>

/** The keys that go up and down, a line, a page or to the end. */
export function moving<State, Effect>(
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

type Pressable<Prompt> = {
  readonly view: string
  readonly prompt: Prompt | undefined
  readonly message: Message | undefined
  readonly isPasting: boolean
}

/** What one screen makes of keys: while it asks something, in its first view, and while one is read. */
type Handlers<State, Prompt, Effect> = {
  readonly answered: (state: State, prompt: Prompt, key: Key) => Step<State, Effect>
  readonly first: Keys<State, Effect>
  readonly detail: Keys<State, Effect>
  /** To the first view, from help. */
  readonly back: Act<State, Effect>
}

/** One key, as every screen takes it. */
export function pressed<Prompt, State extends Pressable<Prompt>, Effect>(
  state: State,
  key: Key,
  { answered, first, detail, back }: Handlers<State, Prompt, Effect>,
): Step<State, Effect | { act: 'leave'; isInterrupted: true }> {
  const only = (next: State) => ({ state: next, effects: [] })
  if (key.name === 'ctrl-c') return { state, effects: [{ act: 'leave', isInterrupted: true }] }
  if (key.name === 'paste-start') return only({ ...state, isPasting: true })
  if (key.name === 'paste-end') return only({ ...state, isPasting: false })
  if (state.prompt) return answered(state, state.prompt, key)
  // What is pasted was not meant as commands.
  if (state.isPasting) return only(state)
  const fresh = { ...state, message: undefined }
  if (state.view === 'help') return back(fresh)
  const act = (state.view === 'detail' ? detail : first)[key.name]
  return act ? act(fresh) : only(fresh)
}
