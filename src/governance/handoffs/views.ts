import { askedBy } from '#approvals'
import type { Approval, Approvals } from '#approvals'
import type { Caller } from '#base/caller.ts'
import { rfc3339 } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import type { Db, Reader } from '#base/db/port.ts'
import { handoffOf, packetOf } from './packet.ts'
import type { HandoffStore } from './store.ts'

type Deps = {
  readonly db: Db
  readonly store: Pick<HandoffStore, 'find' | 'handedBack' | 'thread'>
  readonly approvals: Pick<Approvals, 'find' | 'list'>
  readonly settings: Config['handoff']
  readonly now: Clock
}

/** Answers given to an agent at once; the next ones come when it has acknowledged some. */
const mostAtOnce = 100

export function createHandoffViews({ db, store, approvals, settings, now }: Deps) {
  const timeoutMs = settings.timeout_seconds * 1000

  /** Delivered again until it is acknowledged, so that a crash loses nothing (H3). */
  async function handedBack(
    reader: Reader,
    asked: { agent: string; since?: number | undefined; domain: string | undefined },
  ) {
    const { ids, count } = await store.handedBack(reader, asked, mostAtOnce)
    const items = []
    for (const id of ids) {
      const approval = await approvals.find(reader, id)
      if (!approval) continue
      const { answer, reason } = handoffOf(approval)
      items.push({
        handoff_id: id,
        domain: approval.domain,
        resolution: answer?.resolution ?? '',
        resolved_at: rfc3339(approval.decidedAt ?? 0),
        hand_back: answer?.hand_back ?? false,
        instructions: answer?.instructions ?? null,
        original_reason: reason,
      })
    }
    return { items, count }
  }

  const isOverdue = ({ status, createdAt }: Approval) =>
    status === 'pending' && now() - createdAt >= timeoutMs

  /** What nobody has answered yet, oldest first (G4). */
  async function waiting(
    caller: Caller,
    {
      agent,
      domain,
      limit,
    }: { agent?: string | undefined; domain?: string | undefined; limit: number },
  ) {
    const found = await approvals.list({
      statuses: ['pending'],
      kind: 'handoff',
      ...askedBy(caller, agent),
      domain,
      limit: 1000,
    })
    return found
      .slice(-limit)
      .toReversed()
      .map((approval) => ({
        handoff_id: approval.id,
        agent_id: approval.requester,
        domain: approval.domain,
        reason: handoffOf(approval).reason,
        handoff_mode: handoffOf(approval).handoff_mode,
        context_packet: packetOf(approval, settings),
        created_at: rfc3339(approval.createdAt),
        overdue: isOverdue(approval),
      }))
  }

  /** What the inbox shows of one, with all that was asked and answered in its thread (H6). */
  async function detail(approval: Approval) {
    const { answer: _, ...handoff } = handoffOf(approval)
    const row = await store.find(db, approval.id)
    const ids = row ? await store.thread(db, row.thread, mostAtOnce) : [approval.id]
    const found = await approvals.list({ ids, limit: ids.length })
    const thread = found.toSorted((a, b) => a.createdAt - b.createdAt)
    return {
      ...handoff,
      overdue: isOverdue(approval),
      reminded: row?.reminded ?? 0,
      thread: thread.map((one) => {
        const { reason, answer } = handoffOf(one)
        return {
          handoff_id: one.id,
          reason,
          at: rfc3339(one.createdAt),
          ...(answer && {
            resolution: answer.resolution,
            hand_back: answer.hand_back,
            ...(answer.instructions !== null && { instructions: answer.instructions }),
          }),
        }
      }),
    }
  }

  return {
    handedBack,
    waiting,
    detail,
    packetOf: (approval: Approval) => packetOf(approval, settings),
  }
}
