import type { ClaimResult } from '#approvals'
import type { Refusal } from '#base/call-check.ts'
import type { Tx } from '#base/db/port.ts'
import { McpResult, RefusedResult } from '#base/tool.ts'
import type { CallRecord } from './call-record.ts'
import { haltRefusal } from './checks.ts'
import type { Execution, ExecutorDeps } from './execute.ts'

/**
 * The reason why a call does not run now: halted after the checks, pending, rejected, or already
 * run.
 */
export class NotExecuted {
  readonly reason:
    | { readonly halted: Refusal }
    | { readonly passage: Exclude<ClaimResult, { as: 'claimed' }> }

  constructor(reason: NotExecuted['reason']) {
    this.reason = reason
  }
}

/** The reason for running the call, as recorded in its entry. */
type Decision = Readonly<Record<string, unknown>>

export type Admission = ReturnType<typeof createAdmission>

/**
 * Creates the steps of a call in its transactions: the halt check and the single use of its
 * approval (A15, RS4).
 */
export function createAdmission(
  { approvals, halts }: Pick<ExecutorDeps, 'approvals' | 'halts'>,
  { attempt, verdict, request, haltRevision }: Execution,
  { call, setIds }: CallRecord,
) {
  const { caller, touch } = attempt
  let claimed: string | undefined
  /** All claims of this call, including those of rolled-back transactions. */
  const claims = new Set<string>()

  function claim(approval: string): void {
    claimed = approval
    claims.add(approval)
  }

  function applyClaim(passage: ClaimResult): Decision | NotExecuted {
    const { approval } = passage
    request.observe?.({ mode: approval.mode, approval: approval.id })
    if (passage.as !== 'claimed') return new NotExecuted({ passage })
    claim(approval.id)
    setIds({ approval: approval.id })
    return { mode: approval.mode, by: approval.decidedBy }
  }

  return {
    // Only a decision is recorded; a call without one runs because no check refused it.
    isDecided:
      verdict.mode === 'wait' || verdict.decision !== undefined || request.approval !== undefined,

    /** Runs in the transaction that starts the call, before the tool acts. */
    async admit(tx: Tx): Promise<Decision | NotExecuted> {
      claimed = undefined
      if (halts && halts.revision() !== haltRevision) {
        const halt = await halts.findCovering(caller, touch, tx)
        if (halt) return new NotExecuted({ halted: haltRefusal(halt) })
      }
      // An approved call consumes its approval even if trust or a permission would now allow the
      // call.
      if (request.approval !== undefined)
        return applyClaim(await approvals.claimApprovedCall(tx, caller, request.approval, verdict))
      if (verdict.mode === 'wait')
        return applyClaim(
          await approvals.claimOrOpen(tx, caller, verdict, () => verdict.open(tx, call)),
        )
      const passage = await verdict.enter?.(tx)
      if (passage && passage.as !== 'claimed') return applyClaim(passage)
      const approval = passage?.approval
      if (approval) claim(approval.id)
      const ids = approval ? { approval: approval.id } : (verdict.ids ?? {})
      setIds(ids)
      request.observe?.({ approval: ids.approval })
      const decision = verdict.decision ?? { mode: 'act' }
      // Distinguishes the approved call from later calls under the permission that its approval
      // created.
      return approval ? { ...decision, claimed: true } : decision
    },

    /** Runs in the transaction that completes the call. */
    async complete(tx: Tx, output: unknown): Promise<void> {
      if (claimed !== undefined) await approvals.storeResult(tx, claimed, toStoredResult(output))
      else if (verdict.mode === 'act') await verdict.leave?.(tx, call)
    },

    /** Runs in the transaction that records a failure of the call. */
    async fail(tx: Tx, failure: Refusal): Promise<void> {
      if (claimed !== undefined)
        await approvals.storeResult(tx, claimed, { status: 'failed', ...failure })
    },

    hasClaim: () => claimed !== undefined,
    /** Releases the claims when the call has ended. */
    release(): void {
      for (const approval of claims) approvals.ended(approval)
    },
  }
}

/** Stores the result of an upstream server unchanged. */
function toStoredResult(output: unknown) {
  if (output instanceof McpResult) return { status: 'done', mcp: output.result }
  return output instanceof RefusedResult
    ? { status: 'refused', ...toRefusal(output) }
    : { status: 'done', output }
}

export const toRefusal = ({ code, message, hint, details }: RefusedResult): Refusal => ({
  code,
  message,
  hint,
  details,
})
