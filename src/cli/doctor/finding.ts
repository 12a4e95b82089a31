import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

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

/** The folder itself, or the nearest above it that there is. */
export function thereOf(folder: string): string {
  let there = folder
  while (!existsSync(there)) there = dirname(there)
  return there
}

/** Why a folder cannot be used, be it there or to be made; nothing where it can. */
export function troubleWith(folder: string): string | undefined {
  const there = thereOf(folder)
  if (!statSync(there).isDirectory()) return `${there} is not a folder`
  try {
    accessSync(there, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    return `${folder} cannot be ${there === folder ? 'written' : 'made'} by this account`
  }
}
