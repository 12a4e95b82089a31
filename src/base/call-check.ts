import type { Caller } from './caller.ts'
import type { ErrorCode } from './errors.ts'
import type { Tool, CallTarget } from './tool.ts'

/** A parsed call before its checks. */
export type CallAttempt = {
  readonly tool: Tool
  readonly input: Record<string, unknown>
  readonly caller: Caller
  readonly touch: CallTarget
  /** The approval that the runner starts it with (A15). */
  readonly approval?: string | undefined
}

/** Why a call does not run, for its caller. */
export type Refusal = {
  readonly code: ErrorCode
  readonly message: string
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** The answer of a check to a call. Governance adds a third: a person decides first (`CallVerdict`). */
export type Verdict = { readonly mode: 'act' } | RefuseVerdict

export type RefuseVerdict = Refusal & {
  readonly mode: 'refuse'
  /** What the entry says besides, such as which of several files it was. */
  readonly told?: Readonly<Record<string, unknown>>
}
