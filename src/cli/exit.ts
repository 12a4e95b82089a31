import { CoworkError, errorMessage } from '#base/errors.ts'
import type { ErrorRow, ExitName } from '#base/errors.ts'
import { errorTable } from '../app/errors.ts'
import { cliErrors } from './errors.ts'

/** What a script learns from the exit code alone (K3). */
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

/** The daemon may be newer than this command, and answer with a code that has no row here. */
export const toExitCode = (error: unknown): ExitCode =>
  exitCode[(error instanceof CoworkError && rows[error.code]?.exit) || 'failed']

export type Problem = { code: string; message: string; hint?: string }

/** An error as people read it. What the system refused needs no stack; a bug does. */
export function toProblem(error: unknown): Problem {
  if (error instanceof CoworkError) {
    const { code, message, hint } = error
    return { code, message, ...(hint && { hint }) }
  }
  if (isFull(error))
    return { code: 'enospc', message: `There is no room: ${error.message}.`, hint: makeRoom }
  if (isSystemError(error)) {
    const hint = hints[error.code]
    return { code: error.code.toLowerCase(), message: error.message, ...(hint && { hint }) }
  }
  const message = error instanceof Error && error.stack ? error.stack : errorMessage(error)
  return { code: 'internal', message: `This is a fault in cowork. ${message}` }
}

export const usageError = (message: string, hint?: string): CoworkError =>
  new CoworkError('usage', message, hint ? { hint } : {})

const makeRoom = 'Make room and try again; `cowork doctor` says where, and how much there is.'

const hints: Readonly<Record<string, string>> = {
  ENOENT: 'Check that path: it is not there, or cannot be made there.',
  ENOTDIR: 'Check that path: a file stands where a folder is needed.',
  EACCES: 'Check who may read and write there.',
  EPERM: 'Check who may read and write there.',
  EROFS: 'Nothing can be written there: choose another place, such as with --state.',
  ENOSPC: makeRoom,
}

const sqliteFull = 13

const isFull = (error: unknown): error is Error =>
  error instanceof Error && 'errcode' in error && error.errcode === sqliteFull

/** What the operating system said no to, such as EACCES: it has a code and a number. */
const isSystemError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'errno' in error && 'code' in error && typeof error.code === 'string'
