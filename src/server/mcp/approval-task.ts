import type { Approval, Approvals } from '#approvals'
import { formatRfc3339 } from '#base/clock.ts'
import { toSettled } from '#dispatch'
import type { ToolRegistry } from '#dispatch'
import { toContent, toErrorResult, toProtocolError } from './results.ts'
import { withEditNotice } from './earlier-run.ts'
import type { TaskRecord } from './tasks.ts'

type Deps = {
  readonly approvals: Pick<Approvals, 'isClaimable' | 'isRunning' | 'reviewUrl'>
  readonly registry: ToolRegistry
}
type End = Pick<TaskRecord, 'status' | 'statusMessage' | 'result' | 'error'>

/** A person decides slowly; an approved call runs soon (RA12). */
const pollWhilePendingMs = 5000
const pollWhileRunningMs = 1000

/**
 * Converts the approval of a call to a task of SEP-2663. Every end except a JSON-RPC error is a
 * tool result.
 */
export function toTask(
  { approvals, registry }: Deps,
  approval: Approval,
  structured = false,
): TaskRecord {
  const { id, status, createdAt, decidedAt, reason } = approval
  return {
    taskId: id,
    createdAt: formatRfc3339(createdAt),
    lastUpdatedAt: formatRfc3339(decidedAt ?? createdAt),
    ttlMs: null,
    pollIntervalMs: status === 'pending' ? pollWhilePendingMs : pollWhileRunningMs,
    ...toEnd(),
  }

  function toEnd(): End {
    if (status === 'withdrawn' && reason === null)
      return { status: 'cancelled', statusMessage: 'The request was withdrawn.' }
    const settled = toSettled(approval, registry.find(approval.action), approvals)
    if (settled.status === 'waiting')
      return {
        status: 'working',
        statusMessage:
          status === 'pending'
            ? `Waiting for a person: ${approvals.reviewUrl(id)}`
            : 'Approved; cowork runs it.',
      }
    if (settled.status === 'done') {
      const { tool, output, earlier } = settled
      return toCompleted(withEditNotice(toContent(tool, output, structured), earlier))
    }
    const { code, message, data } = toProtocolError(settled)
    return settled.code === 'rpc_error'
      ? { status: 'failed', error: { code, message, data } }
      : toCompleted(toErrorResult(settled))
  }
}

const toCompleted = (result: Readonly<Record<string, unknown>>): End => ({
  status: 'completed',
  result,
})
