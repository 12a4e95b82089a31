import type { ClaimResult } from '#approvals'
import type { CallAttempt, Refusal } from '#base/call-check.ts'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { RefusedResult } from '#base/tool.ts'
import type { Call, Tool } from '#base/tool.ts'
import type { CallVerdict } from '#governance'
import type { Ledger } from '#ledger'
import { createAdmission, NotExecuted, toRefusal } from './admission.ts'
import type { Admission } from './admission.ts'
import { createCallRecord } from './call-record.ts'
import type { CallRecord } from './call-record.ts'
import { changePath } from './change-path.ts'
import type { CallResult, CallRequest, DispatchDeps } from './dispatch.ts'
import { readPath } from './read-path.ts'
import { runPath } from './run-path.ts'
import { revokedAgentResult, toSettled, staleMessage } from './settled-call.ts'

export type ExecutorDeps = Pick<DispatchDeps, 'approvals' | 'halts' | 'ledger' | 'now' | 'log'>

/** A call that passed the checks. */
export type Execution = {
  readonly id: string
  readonly startedAt: number
  readonly attempt: CallAttempt
  readonly verdict: Exclude<CallVerdict, { mode: 'refuse' }>
  readonly request: CallRequest
  /** The revision of the halts at the time of the checks. */
  readonly haltRevision: number | undefined
}

/** One of three execution paths: read, change or run. */
export type CallPath = {
  /** Returns the output of the tool, a `RefusedResult` or `NotExecuted`. */
  execute(): Promise<unknown>
  /** True if a failure must be on disk before the caller learns of it. */
  mustCommitFailure(failure: Refusal): boolean
}

export type PathContext = {
  readonly ledger: Ledger
  readonly tool: Tool
  readonly input: CallAttempt['input']
  readonly record: CallRecord
  readonly admission: Admission
  /** True if only a halt or the store can still stop the call. */
  readonly needsNoApproval: boolean
}

/** How long a repeated call waits for the run of an approved call. */
const runWaitMs = 3000

/**
 * Creates the function that executes a call and records its entries, or reports that it must wait.
 */
export function createExecutor(deps: ExecutorDeps) {
  const { ledger, now, log } = deps

  return async function execute(execution: Execution): Promise<CallResult> {
    const { id, attempt, verdict, request } = execution
    const { tool, input } = attempt
    const record = createCallRecord(execution, now)
    const admission = createAdmission(deps, execution, record)
    const needsNoApproval = verdict.mode === 'act' && request.approval === undefined
    const path = choosePath({ ledger, tool, input, record, admission, needsNoApproval })
    try {
      record.call.signal.throwIfAborted()
      const output = await path.execute()
      if (output instanceof NotExecuted) return await answerNotExecuted(output, execution, record)
      if (output instanceof RefusedResult)
        return { status: 'refused', call: id, ...toRefusal(output) }
      return { status: 'done', call: id, tool, output }
    } catch (error) {
      const failure = toFailure(error, record.call, log)
      const data = { ...record.elapsed(), message: failure.message }
      const failed = record.entry('call.failed', { outcome: failure.code, data })
      if (path.mustCommitFailure(failure))
        await ledger
          .transact(async (tx) => {
            tx.append(failed)
            await admission.fail(tx, failure)
          })
          .catch(() => ledger.appendDeferred(failed))
      else ledger.appendDeferred(failed)
      return { status: 'failed', call: id, ...failure }
    } finally {
      admission.release()
    }
  }

  async function answerNotExecuted(
    { reason }: NotExecuted,
    { id, attempt: { tool }, request }: Execution,
    { call, entry }: CallRecord,
  ): Promise<CallResult> {
    if ('halted' in reason) {
      const { code, message } = reason.halted
      ledger.appendDeferred(entry('call.refused', { outcome: code, data: { message } }))
      return { status: 'refused', call: id, ...reason.halted }
    }
    const { passage } = reason
    const answer = await answerClaim(passage, tool, call, request.approval !== undefined)
    // A new request has its own entry; a repeated one is recorded here.
    if (passage.as !== 'waiting' || !passage.isNew)
      ledger.appendDeferred(
        entry('call.refused', {
          outcome: answer.status === 'done' ? 'approval_used' : answer.code,
          ids: { call: id, approval: passage.approval.id },
        }),
      )
    return { ...answer, call: id }
  }

  /** Answers a call that did not run; a repeated approved call waits briefly for its result. */
  async function answerClaim(
    passage: Exclude<ClaimResult, { as: 'claimed' }>,
    tool: Tool,
    { signal }: Call,
    isRunner: boolean,
  ) {
    const { approvals } = deps
    const { as, approval } = passage
    if (as === 'gone') return revokedAgentResult(approval, tool)
    const earlier = as === 'waiting' ? passage.stale : undefined
    const isRepeated = !isRunner && (as === 'approved' || as === 'used')
    const latest = isRepeated
      ? await approvals.waitUntilFinished(approval.id, runWaitMs, signal)
      : undefined
    const settled = toSettled(latest ?? approval, tool, approvals)
    if (isRepeated && settled.status !== 'waiting') approvals.noteDelivered(approval.id)
    return earlier && settled.status === 'waiting'
      ? { ...settled, message: `${staleMessage(earlier)} ${settled.message}` }
      : settled
  }
}

function choosePath(context: PathContext): CallPath {
  const { tool, admission } = context
  if (tool.transact) return changePath(tool.transact, context)
  if (tool.run) return runPath(tool, context)
  const { read } = tool
  if (!admission.isDecided) return readPath(read, context)
  // A read with a decision is recorded like a run.
  return runPath({ run: async (input, call) => ({ output: await read(input, call) }) }, context)
}

/**
 * Converts an error to a failure for the caller. A bug is logged with its stack and returned
 * without it.
 */
function toFailure(error: unknown, call: Call, log: Log): Refusal {
  // The tool's own error counts even if the caller is gone.
  if (error instanceof CoworkError) {
    const { code, message, hint, details } = error
    return { code, message, ...(hint && { hint }), details }
  }
  if (call.signal.aborted) return { code: 'cancelled', message: 'The call was cancelled.' }
  log.error('call failed unexpectedly', {
    call: call.id,
    error: error instanceof Error ? error.stack : String(error),
  })
  return {
    code: 'internal',
    message:
      'Internal error in cowork: the call failed and its changes in the store were rolled back.',
    hint: `Search the log for call ${call.id}.`,
  }
}
