import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'
import type { ProtectedStore } from './protected-store.ts'
import type { ApprovalStore } from './store.ts'

type Deps = {
  readonly db: Db
  readonly store: Pick<
    ApprovalStore & ProtectedStore,
    'listDue' | 'deleteOldResults' | 'deleteArguments' | 'nextDueAt'
  >
  readonly processDue: (tx: Tx, id: string) => Promise<void>
  /** Returns a request to the inbox; false if no decision was deferred. */
  readonly releaseDeferred: (tx: Tx, id: string, why: string) => Promise<boolean>
  /** Ends calls whose daemon stopped before it stored their result. */
  readonly endLost: () => Promise<void>
  /** Calls approved before this time can no longer be claimed. */
  readonly claimableSince: () => number
  readonly now: Clock
  readonly log: Log
}

const batchSize = 200
/** The maximum delay after which decisions deferred by a crashed daemon are processed. */
const maxDelayMs = 15_000
const minDelayMs = 20
/** How long to look for a deferred decision whose transaction commits after its due time. */
const commitTimeoutMs = 1000
const retryDelayMs = 200
/** Errors that do not concern the decision; processing is retried. */
const retryableCodes = ['store_unavailable', 'store_closed', 'outcome_unknown', 'clock_went_back']

/**
 * Applies deferred decisions and expires old requests when they are due, also after a restart
 * (A7).
 */
export function startSweeper(deps: Deps) {
  const { db, store, processDue, releaseDeferred, endLost, claimableSince, now, log } = deps
  /** Due times of decisions deferred by this daemon and not yet seen in the store, by id. */
  const expected = new Map<string, number>()

  async function sweep(): Promise<number> {
    try {
      const due = await store.listDue(db, now(), batchSize)
      for (const id of due) expected.delete(id)
      const results = await Promise.allSettled(due.map(processApproval))
      await db.transact(async (tx) => {
        await store.deleteOldResults(tx, now())
        await store.deleteArguments(tx, claimableSince())
      })
      await endLost()
      const failed = results.find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
      return delayUntil(await store.nextDueAt(db))
    } finally {
      task.runWithin(delayUntil(nextExpectedAt()))
    }
  }

  const delayUntil = (at: number) => Math.min(Math.max(minDelayMs, at - now()), maxDelayMs)

  function nextExpectedAt(): number {
    let at = Infinity
    for (const [id, until] of expected)
      if (until < now() - commitTimeoutMs) expected.delete(id)
      else at = Math.min(at, Math.max(until, now() + retryDelayMs))
    return at
  }

  async function processApproval(id: string): Promise<void> {
    try {
      await db.transact((tx) => processDue(tx, id))
    } catch (error) {
      if (error instanceof CoworkError && retryableCodes.includes(error.code)) throw error
      if (!(await db.transact((tx) => releaseDeferred(tx, id, errorMessage(error))))) throw error
    }
  }

  const task = startPeriodicTask({
    intervalMs: maxDelayMs,
    run: sweep,
    failure: 'processing of due approvals failed',
    log,
    runsAtStart: false,
  })
  // Policies and tools that a deferred decision needs are still loading.
  task.runWithin(minDelayMs)
  return {
    /** Schedules processing at this time. Repeated calls and rolled-back ids are harmless. */
    expect(id: string, at: number) {
      expected.set(id, at)
      task.runWithin(delayUntil(at))
    },
    close: task.close,
  }
}
