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
