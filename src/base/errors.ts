/**
 * A fault the caller can mend: bad input, a missing thing, a refused credential. Anything else that is
 * thrown is a bug and is answered as `internal`. Conversion happens at the doors only.
 */
export class CoworkError extends Error {
  readonly code: string
  readonly hint: string | undefined
  readonly details: Record<string, unknown>

  constructor(code: string, message: string, more: ErrorDetails = {}) {
    super(message, more.cause === undefined ? {} : { cause: more.cause })
    this.name = 'CoworkError'
    this.code = code
    this.hint = more.hint
    this.details = more.details ?? {}
  }
}

export type ErrorDetails = { hint?: string; details?: Record<string, unknown>; cause?: unknown }

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
