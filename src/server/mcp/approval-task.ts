import type { Approval, Approvals } from '#approvals'
import { rfc3339 } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import type { Catalogue } from '#dispatch'
import { contentOf, payloadOf, proseOf, toProtocolError, withEdit } from './answer.ts'
import type { Fault } from './answer.ts'
import type { TaskRecord } from './tasks.ts'

type Deps = {
  readonly approvals: Pick<Approvals, 'isLive' | 'reviewUrl'>
  readonly catalogue: Catalogue
  readonly now: Clock
}
type End = Pick<TaskRecord, 'status' | 'statusMessage' | 'result' | 'error'>
/** What dispatch keeps of a call under its approval. */
type Kept =
  | { readonly status: 'done'; readonly output?: unknown; readonly mcp?: Record<string, unknown> }
  | { readonly status: 'done'; readonly too_large: true }
  | ({ readonly status: 'failed' | 'refused' } & Fault)

const pollEvery = 500
/** A call is claimed within an hour by default; one that left no result long after that left none. */
const longestRun = 2 * 60 * 60 * 1000

/** The approval of a call in the words of SEP-2663. Every end but an error of JSON-RPC is a tool's result. */
export function taskOf({ approvals, catalogue, now }: Deps, approval: Approval): TaskRecord {
  const { id, status, createdAt, decidedAt, action, decidedBy, reason } = approval
  const end = (): End => {
    switch (status) {
      case 'pending':
        return {
          status: 'working',
          statusMessage: `Waits for a person: ${approvals.reviewUrl(id)}`,
        }
      case 'approved':
        if (!approvals.isLive(approval))
          return faulty('approval_expired', 'It was approved and not used in time.')
        return { status: 'working', statusMessage: 'Approved; it starts.' }
      case 'consumed':
        return carriedOut()
      case 'rejected':
        return faulty(
          'approval_denied',
          `${decidedBy ?? 'A person'} denied ${action}${reason ? `: ${reason}` : '.'}`,
        )
      case 'expired':
        return faulty('approval_expired', 'Nobody decided in time, which is a no.')
      case 'withdrawn':
        return { status: 'cancelled', statusMessage: 'It was taken back.' }
    }
  }

  const faulty = (code: string, message: string): End =>
    completed(faultOf({ code, message, details: { approval_id: id } }))

  function carriedOut(): End {
    if (approval.result === undefined)
      return (decidedAt ?? 0) > now() - longestRun
        ? { status: 'working', statusMessage: 'Approved and started.' }
        : { status: 'failed', error: { code: -32603, message: 'Its result is not kept.' } }
    const kept = approval.result as Kept
    if (kept.status !== 'done') {
      const { code, message, data } = toProtocolError(kept)
      return kept.code === 'rpc_error'
        ? { status: 'failed', error: { code, message, data } }
        : completed(faultOf(kept))
    }
    if ('too_large' in kept)
      return completed(
        contentOf(undefined, 'It was carried out; its answer was too large to keep.'),
      )
    const result = kept.mcp ?? contentOf(catalogue.find(action), kept.output)
    return completed(withEdit(result, approval))
  }

  return {
    taskId: id,
    createdAt: rfc3339(createdAt),
    lastUpdatedAt: rfc3339(decidedAt ?? createdAt),
    ttlMs: null,
    pollIntervalMs: pollEvery,
    ...end(),
  }
}

const completed = (result: Readonly<Record<string, unknown>>): End => ({
  status: 'completed',
  result,
})

const faultOf = (fault: Fault) => ({
  isError: true,
  content: [{ type: 'text', text: proseOf(fault) }],
  structuredContent: payloadOf(fault),
})
