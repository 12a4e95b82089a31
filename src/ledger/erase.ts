import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { Actor } from '#base/entry.ts'
import { CoworkError, messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { LedgerStore } from './store.ts'

const day = 86_400_000
const hour = 3_600_000
const batchSize = 1000

type Deps = {
  readonly db: Db
  readonly store: LedgerStore
  readonly now: Clock
  readonly log: Log
}

/**
 * Takes away what is kept beside entries (L8). The entry with its digest stays, and another one tells who took
 * it away and why: without that a verifier holds a missing payload against the ledger.
 */
export function createErasure({ db, store, now, log }: Deps) {
  let timer: NodeJS.Timeout | undefined
  let busy: Promise<unknown> | undefined

  async function erase(tx: Tx, seq: number, reason: string, actor: Actor): Promise<void> {
    if ((await store.erasePayload(tx, seq)) === 0)
      throw new CoworkError('not_found', `Nothing is kept beside entry ${seq} that could go.`, {
        hint: 'It never had a payload, or that was erased before: look at the entry itself.',
      })
    tx.append({ type: 'payload.erased', actor, subject: String(seq), data: { reason } })
  }

  /** All that is older than this time; gives how many. Time never runs backwards in the ledger, so it is a prefix. */
  async function eraseBefore(time: number): Promise<number> {
    for (let erased = 0; ;) {
      const count = await db.transact(async (tx) => {
        const oldest = await store.oldestPayloads(tx, batchSize)
        const upTo = oldest.filter(({ at }) => at < time).at(-1)?.seq
        if (upTo === undefined) return 0
        const gone = await store.erasePayloadsUpTo(tx, upTo)
        // Another daemon was faster.
        if (gone === 0) return 0
        tx.append({
          type: 'payload.expired',
          actor: systemActor,
          data: { up_to_seq: upTo, payloads: gone },
        })
        return gone
      })
      erased += count
      if (count < batchSize) return erased
    }
  }

  /** Erases what is older than so many days, now and every hour. */
  function keepFor(days: number) {
    const sweep = async () => {
      if (await db.leads()) await eraseBefore(now() - days * day)
    }
    const tick = () => {
      busy = sweep().catch((error: unknown) =>
        log.error('old payloads could not be erased', { error: messageOf(error) }),
      )
    }
    timer = setInterval(tick, hour)
    timer.unref()
    tick()
  }

  return {
    erase,
    eraseBefore,
    keepFor,
    async close() {
      clearInterval(timer)
      await busy
    },
  }
}
