import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** One line of `cowork doctor`: the check, its state and a remedy. */
export type CheckResult = {
  /** Set if the line is shown under another name than its check, such as `halt` for `daemon`. */
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
export const withCheckName = (check: string, finding: CheckResult): CheckResult => ({
  check,
  ...finding,
})

/** Returns the folder, or its nearest existing parent. */
export function nearestExistingFolder(folder: string): string {
  let existing = folder
  while (!existsSync(existing)) existing = dirname(existing)
  return existing
}

/** Describes why a folder cannot be used or created; undefined if it can. */
export function describeFolderIssue(folder: string): string | undefined {
  const existing = nearestExistingFolder(folder)
  if (!statSync(existing).isDirectory()) return `${existing} is not a folder`
  try {
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    return `this account cannot ${existing === folder ? 'write to' : 'create'} ${folder}`
  }
}
