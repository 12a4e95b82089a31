import { CoworkError, errorMessage } from '#base/errors.ts'
import type { ErrorRow, ExitName } from '#base/errors.ts'
import { errorTable } from '../app/errors.ts'
import { cliErrors } from './errors.ts'

/** Exit codes by kind of failure, for scripts (K3). */
export const exitCode = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  auth: 4,
  denied: 5,
  needsApproval: 6,
  expired: 7,
  notRunning: 8,
  timeout: 124,
  interrupted: 130,
} as const satisfies Record<ExitName | 'ok', number>
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

const rows: Readonly<Record<string, Pick<ErrorRow, 'exit'>>> = { ...errorTable, ...cliErrors }

/** A newer daemon may send a code that has no row here. */
export const toExitCode = (error: unknown): ExitCode =>
  exitCode[(error instanceof CoworkError && rows[error.code]?.exit) || 'failed']

export type Problem = { code: string; message: string; hint?: string }

/** Converts an error for people. A refusal needs no stack; a bug does. */
export function toProblem(error: unknown): Problem {
  if (error instanceof CoworkError) {
    const { code, message, hint } = error
    return { code, message, ...(hint && { hint }) }
  }
  if (isDiskFull(error))
    return { code: 'enospc', message: `Disk full: ${error.message}.`, hint: freeSpaceHint }
  if (isSystemError(error)) {
    const hint = hints[error.code]
    return { code: error.code.toLowerCase(), message: error.message, ...(hint && { hint }) }
  }
  const message = error instanceof Error && error.stack ? error.stack : errorMessage(error)
  return { code: 'internal', message: `Internal error in cowork: ${message}` }
}

export const usageError = (message: string, hint?: string): CoworkError =>
  new CoworkError('usage', message, hint ? { hint } : {})

const freeSpaceHint = 'Free disk space and try again; `cowork doctor` shows where.'

const hints: Readonly<Record<string, string>> = {
  ENOENT: 'Check that the path exists.',
  ENOTDIR: 'Check the path: a file is where a folder is needed.',
  EACCES: 'Check the permissions of the path.',
  EPERM: 'Check the permissions of the path.',
  EROFS: 'Choose a writable path, for example with --state.',
  ENOSPC: freeSpaceHint,
}

const sqliteFullCode = 13

const isDiskFull = (error: unknown): error is Error =>
  error instanceof Error && 'errcode' in error && error.errcode === sqliteFullCode

/** True for errors of the operating system, such as EACCES: they have a code and a number. */
const isSystemError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'errno' in error && 'code' in error && typeof error.code === 'string'
