import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import type { Log } from '#base/log.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'
import type { Approval } from './model.ts'
import type { ApprovalStore } from './store.ts'

type Deps = {
  readonly db: Db
  readonly store: Pick<ApprovalStore, 'listExpiredLeases' | 'renewLeases'>
  readonly endLost: (tx: Tx, id: string) => Promise<void>
  readonly now: Clock
  readonly log: Log
}

const leaseMs = 60_000
const renewIntervalMs = 15_000
const batchSize = 200

/**
 * Tracks the approved calls that run in this daemon. Each has a lease that is renewed while the
 * call runs; another daemon of the same store treats a call without a result as lost only after
 * its lease has ended (A15). A store with a single daemon needs no leases: calls that this daemon
 * does not run ended with the previous process.
 */
export function createRunningCalls({ db, store, endLost, now, log }: Deps) {
  const ids = new Set<string>()
  const isShared = db.dialect === 'postgres'
  const renewal = startPeriodicTask({
    intervalMs: renewIntervalMs,
    async run() {
      if (ids.size > 0) await db.transact((tx) => store.renewLeases(tx, [...ids], now() + leaseMs))
    },
    failure: 'lease renewal of running calls failed',
    log,
    runsAtStart: false,
  })

  const isLost = ({ id, runUntil }: Pick<Approval, 'id' | 'runUntil'>): boolean =>
    runUntil !== undefined && !ids.has(id) && (!isShared || runUntil <= now())

  return {
    /** Returns the end of the lease. The claiming transaction may be retried or rolled back. */
    start(id: string): number {
      ids.add(id)
      return now() + leaseMs
    },
    end: (id: string) => void ids.delete(id),
    isLost,
    isRunning: (approval: Approval): boolean =>
      approval.runUntil !== undefined && !isLost(approval),
    async endLost(): Promise<void> {
      const before = isShared ? now() : Number.MAX_SAFE_INTEGER
      const unfinished = await store.listExpiredLeases(db, before, batchSize)
      for (const id of unfinished) if (!ids.has(id)) await db.transact((tx) => endLost(tx, id))
    },
    close: renewal.close,
  }
}
