import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import { messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { ApprovalStore } from './store.ts'

type Deps = {
  readonly db: Db
  readonly store: Pick<ApprovalStore, 'due' | 'forget' | 'next'>
  /** Makes the held decision, or lets it expire. */
  readonly settle: (tx: Tx, id: string) => Promise<void>
  /** For a held decision that cannot be made. */
  readonly giveBack: (tx: Tx, id: string, why: string) => Promise<void>
  readonly now: Clock
  readonly log: Log
}

const atOnce = 200
/** What another daemon held before it died is released this much later at most. */
const longestPause = 15_000
const shortestPause = 20

/** Makes held decisions and expires old requests when their time comes, also after a restart (A7). */
export function startSweeper({ db, store, settle, giveBack, now, log }: Deps) {
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let wakeAt = Infinity
  let running: Promise<void> | undefined

  async function sweep(): Promise<void> {
    try {
      const due = await store.due(db, now(), atOnce)
      await Promise.all(due.map(({ id }) => one(id)))
      await db.transact((tx) => store.forget(tx, now()))
      if (!closed) plan(await store.next(db))
    } catch (error) {
      log.error('approvals that are due could not be settled', { error: messageOf(error) })
      plan(Infinity)
    }
  }

  async function one(id: string): Promise<void> {
    try {
      await db.transact((tx) => settle(tx, id))
    } catch (error) {
      await db.transact((tx) => giveBack(tx, id, messageOf(error)))
    }
  }

  function plan(at: number) {
    if (closed) return
    clearTimeout(timer)
    wakeAt = Math.min(at, now() + longestPause)
    const pause = Math.max(shortestPause, wakeAt - now())
    timer = setTimeout(() => void (running = sweep()), pause).unref()
  }

  plan(now())
  return {
    /** Something is due at this time. Harmless to say twice, or of what is rolled back. */
    expect(at: number) {
      if (at < wakeAt) plan(at)
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await running
    },
  }
}
