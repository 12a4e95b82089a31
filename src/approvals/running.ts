import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import { messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Approval } from './model.ts'
import type { ApprovalStore } from './store.ts'

type Deps = {
  readonly db: Db
  readonly store: Pick<ApprovalStore, 'unfinished' | 'renewLeases'>
  readonly endLost: (tx: Tx, id: string) => Promise<void>
  readonly now: Clock
  readonly log: Log
}

const leaseMs = 60_000
const renewIntervalMs = 15_000
const batchSize = 200

/**
 * The approved calls that run in this daemon. Each has a lease in the store, which is renewed while it runs: another
 * daemon of the same store takes a call without result for lost only after its lease has ended (A15). The store of
 * one daemon needs no lease: calls that this daemon does not run have ended with the daemon before it.
 */
export function createRunning({ db, store, endLost, now, log }: Deps) {
  const ids = new Set<string>()
  const isShared = db.dialect === 'postgres'
  let timer: NodeJS.Timeout | undefined

  function renew(): void {
    db.transact((tx) => store.renewLeases(tx, [...ids], now() + leaseMs)).catch((error: unknown) =>
      log.warn('approvals: leases of running calls not renewed', { error: messageOf(error) }),
    )
  }

  const isLost = ({ id, runUntil }: Pick<Approval, 'id' | 'runUntil'>): boolean =>
    runUntil !== undefined && !ids.has(id) && (!isShared || runUntil <= now())

  return {
    /** Returns the end of the lease. The transaction of the claim may be retried or rolled back. */
    begin(id: string): number {
      ids.add(id)
      timer ??= setInterval(renew, renewIntervalMs).unref()
      return now() + leaseMs
    },
    end(id: string): void {
      ids.delete(id)
      if (ids.size > 0) return
      clearInterval(timer)
      timer = undefined
    },
    isLost,
    /** Whether a daemon is running it. */
    isRunning: (approval: Approval): boolean =>
      approval.runUntil !== undefined && !isLost(approval),
    async endLost(): Promise<void> {
      const before = isShared ? now() : Number.MAX_SAFE_INTEGER
      const unfinished = await store.unfinished(db, before, batchSize)
      for (const id of unfinished) if (!ids.has(id)) await db.transact((tx) => endLost(tx, id))
    },
    close(): void {
      clearInterval(timer)
    },
  }
}
