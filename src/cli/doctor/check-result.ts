import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** One line of `cowork doctor`: what was looked at, how it stands, and what mends it. */
export type CheckResult = {
  /** Set where the line is shown under another name than the check that found it, such as `halt` from `daemon`. */
  readonly check?: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly message: string
  readonly remedy?: string
}

export const ok = (message: string): CheckResult => ({ state: 'ok', message })
export const warn = (message: string, remedy: string): CheckResult => ({
  state: 'warn',
  message,
  remedy,
})
export const fail = (message: string, remedy: string): CheckResult => ({
  state: 'fail',
  message,
  remedy,
})
export const about = (check: string, finding: CheckResult): CheckResult => ({ check, ...finding })

/** The folder itself, or the nearest above it that there is. */
export function nearestExistingFolder(folder: string): string {
  let there = folder
  while (!existsSync(there)) there = dirname(there)
  return there
}

/** Why a folder cannot be used, be it there or to be made; nothing where it can. */
export function describeFolderIssue(folder: string): string | undefined {
  const there = nearestExistingFolder(folder)
  if (!statSync(there).isDirectory()) return `${there} is not a folder`
  try {
    accessSync(there, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    return `${folder} cannot be ${there === folder ? 'written' : 'made'} by this account`
  }
}
