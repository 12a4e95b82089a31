type State = 'ok' | 'warn' | 'fail'

/** One line of `cowork doctor`: what was looked at, how it stands, and what mends it. */
export type Finding = {
  readonly check: string
  readonly state: State
  readonly message: string
  readonly remedy?: string
}

export const ok = (check: string, message: string): Finding => ({ check, state: 'ok', message })
export const warn = (check: string, message: string, remedy: string): Finding => ({
  check,
  state: 'warn',
  message,
  remedy,
})
export const fail = (check: string, message: string, remedy: string): Finding => ({
  check,
  state: 'fail',
  message,
  remedy,
})
