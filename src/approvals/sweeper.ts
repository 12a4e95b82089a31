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
  /** For a held decision that cannot be made; false where none is held. */
  readonly releaseDeferred: (tx: Tx, id: string, why: string) => Promise<boolean>
  /** Calls whose daemon ended before their result was stored. */
  readonly endLost: () => Promise<void>
  /** A call approved before this time cannot be claimed any more. */
  readonly claimableSince: () => number
  readonly now: Clock
  readonly log: Log
}

const batchSize = 200
/** What another daemon held before it died is released this much later at most. */
const maxDelayMs = 15_000
const minDelayMs = 20
/** How long what was held is looked for: its transaction may commit after its time has come. */
const commitTimeoutMs = 1000
const retryDelayMs = 200
/** What is no fault of a decision: it is made when this is over. */
const retryableCodes = ['store_unavailable', 'store_closed', 'outcome_unknown', 'clock_went_back']

/** Makes held decisions and expires old requests when their time comes, also after a restart (A7). */
export function startSweeper(deps: Deps) {
  const { db, store, processDue, releaseDeferred, endLost, claimableSince, now, log } = deps
  /** Held here and not met in the store yet, by id. */
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
    failure: 'approvals that are due could not be settled',
    log,
    runsAtStart: false,
  })
  // Policies and tools that a held decision needs are still being loaded.
  task.runWithin(minDelayMs)
  return {
    /** This one is due at this time. Harmless to say twice, or of what is rolled back. */
    expect(id: string, at: number) {
      expected.set(id, at)
      task.runWithin(delayUntil(at))
    },
    close: task.close,
  }
}
