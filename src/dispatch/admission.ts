import type { ClaimResult } from '#approvals'
import type { Refusal } from '#base/call-check.ts'
import type { Tx } from '#base/db/port.ts'
import { McpResult, RefusedResult } from '#base/tool.ts'
import type { CallRecord } from './call-record.ts'
import { haltRefusal } from './checks.ts'
import type { Execution, ExecutorDeps } from './execute.ts'

/** Why the call does not run now: halted since the checks, waiting for a person, rejected, or run before. */
export class NotExecuted {
  readonly reason:
    | { readonly halted: Refusal }
    | { readonly passage: Exclude<ClaimResult, { as: 'claimed' }> }

  constructor(reason: NotExecuted['reason']) {
    this.reason = reason
  }
}

/** What the entry says of why the call runs. */
type Decision = Readonly<Record<string, unknown>>

export type Admission = ReturnType<typeof createAdmission>

/** What a call needs in the transactions around it: no halt, and the approval that it uses up, once (A15, RS4). */
export function createAdmission(
  { approvals, halts }: Pick<ExecutorDeps, 'approvals' | 'halts'>,
  { attempt, verdict, request, haltRevision }: Execution,
  { call, setIds }: CallRecord,
) {
  const { caller, touch } = attempt
  /** The approval that this call uses up. */
  let claimed: string | undefined
  /** All that it claimed, also in a transaction that was rolled back. */
  const claims = new Set<string>()

  function claim(approval: string): void {
    claimed = approval
    claims.add(approval)
  }

  function through(passage: ClaimResult): Decision | NotExecuted {
    const { approval } = passage
    request.observe?.({ mode: approval.mode, approval: approval.id })
    if (passage.as !== 'claimed') return new NotExecuted({ passage })
    claim(approval.id)
    setIds({ approval: approval.id })
    return { mode: approval.mode, by: approval.decidedBy }
  }

  return {
    // Only what somebody decided on is worth saying; the rest acts because nothing is against it.
    isDecided:
      verdict.mode === 'wait' || verdict.decision !== undefined || request.approval !== undefined,

    /** In the transaction that starts the call, before it acts. */
    async admit(tx: Tx): Promise<Decision | NotExecuted> {
      claimed = undefined
      if (halts && halts.revision() !== haltRevision) {
        const halt = await halts.findCovering(caller, touch, tx)
        if (halt) return new NotExecuted({ halted: haltRefusal(halt) })
      }
      // An approved call uses its approval, also where trust or a permission would do by now.
      if (request.approval !== undefined)
        return through(await approvals.claimApprovedCall(tx, caller, request.approval, verdict))
      if (verdict.mode === 'wait')
        return through(
          await approvals.claimOrOpen(tx, caller, verdict, () => verdict.open(tx, call)),
        )
      const passage = await verdict.enter?.(tx)
      if (passage && passage.as !== 'claimed') return through(passage)
      const approval = passage?.approval
      if (approval) claim(approval.id)
      const ids = approval ? { approval: approval.id } : (verdict.ids ?? {})
      setIds(ids)
      request.observe?.({ approval: ids.approval })
      const decision = verdict.decision ?? { mode: 'act' }
      // Else nothing tells the call that was approved from others under the permission it led to.
      return approval ? { ...decision, claimed: true } : decision
    },

    /** In the transaction that ends the call well. */
    async complete(tx: Tx, output: unknown): Promise<void> {
      if (claimed !== undefined) await approvals.storeResult(tx, claimed, resultToKeep(output))
      else if (verdict.mode === 'act') await verdict.leave?.(tx, call)
    },

    /** In the transaction that records that the call failed. */
    async fail(tx: Tx, failure: Refusal): Promise<void> {
      if (claimed !== undefined)
        await approvals.storeResult(tx, claimed, { status: 'failed', ...failure })
    },

    hasClaim: () => claimed !== undefined,
    /** The call is over, however it ended. */
    release(): void {
      for (const approval of claims) approvals.ended(approval)
    },
  }
}

/** An upstream's answer is kept as what it is. */
function resultToKeep(output: unknown) {
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
