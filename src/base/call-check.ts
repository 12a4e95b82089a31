import type { Caller } from './caller.ts'
import type { ErrorCode } from './errors.ts'
import type { Tool, CallTarget } from './tool.ts'

/** A parsed call before its checks. */
export type CallAttempt = {
  readonly tool: Tool
  readonly input: Record<string, unknown>
  readonly caller: Caller
  readonly touch: CallTarget
  /** The approval with which the runner starts the call (A15). */
  readonly approval?: string | undefined
}

/** The reason that a call does not run, for its caller. */
export type Refusal = {
  readonly code: ErrorCode
  readonly message: string
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** The result of a check of a call. Governance adds a third mode: a person decides first (`CallVerdict`). */
export type Verdict = { readonly mode: 'act' } | RefuseVerdict

export type RefuseVerdict = Refusal & {
  readonly mode: 'refuse'
  /** Extra data for the ledger entry, such as the refused file. */
  readonly entryData?: Readonly<Record<string, unknown>>
}
