/** The exit codes of the command line by name (K3). */
export type ExitName =
  | 'failed'
  | 'usage'
  | 'notFound'
  | 'auth'
  | 'denied'
  | 'needsApproval'
  | 'expired'
  | 'notRunning'
  | 'timeout'
  | 'interrupted'

/** The meaning of a code for programs: the HTTP status of the answer and the exit code of a failed command. */
export type ErrorRow = { readonly status: number; readonly exit: ExitName }
export type ErrorTable = Readonly<Record<string, ErrorRow>>

/** The error codes that several modules use. */
export const baseErrors = {
  internal: { status: 500, exit: 'failed' },
  invalid_input: { status: 400, exit: 'usage' },
  not_found: { status: 404, exit: 'notFound' },
  stale: { status: 409, exit: 'expired' },
  too_large: { status: 413, exit: 'failed' },
  timeout: { status: 504, exit: 'timeout' },
  interrupted: { status: 500, exit: 'interrupted' },
  cancelled: { status: 422, exit: 'failed' },
  outcome_unknown: { status: 500, exit: 'failed' },
  rpc_error: { status: 422, exit: 'failed' },
  unknown_tools: { status: 400, exit: 'usage' },
  empty_selection: { status: 400, exit: 'usage' },
  store_unavailable: { status: 503, exit: 'failed' },
  store_closed: { status: 503, exit: 'failed' },
  store_is_newer: { status: 500, exit: 'failed' },
  transaction_left_the_store: { status: 500, exit: 'failed' },
  daemon_running: { status: 409, exit: 'failed' },
  config_invalid: { status: 422, exit: 'usage' },
  config_unreadable: { status: 422, exit: 'failed' },
  env_file_invalid: { status: 422, exit: 'usage' },
  env_file_unreadable: { status: 422, exit: 'usage' },
  secret_unresolved: { status: 422, exit: 'failed' },
} as const satisfies ErrorTable

type Declared = typeof baseErrors

/**
 * All error codes: each module adds its own table in its `errors.ts` (0038).
 * @public
 */
export interface ErrorCodes extends Declared {}
export type ErrorCode = keyof ErrorCodes

/**
 * An error that the caller can act on: invalid input, a missing record, a refused credential. Any other thrown value is
 * a bug and becomes `internal`. Only the endpoints convert errors to responses.
 */
export class CoworkError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: Record<string, unknown>

  constructor(code: ErrorCode, message: string, options: ErrorDetails = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'CoworkError'
    this.code = code
    this.hint = options.hint
    this.details = options.details ?? {}
  }
}

export type ErrorDetails = { hint?: string; details?: Record<string, unknown>; cause?: unknown }

export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
