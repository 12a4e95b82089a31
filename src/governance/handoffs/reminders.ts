import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { Log } from '#base/log.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'
import type { HandoffRow, HandoffStore } from './store.ts'

type Deps = {
  readonly db: Db
  readonly store: Pick<HandoffStore, 'due' | 'remind'>
  readonly timeoutMs: number
  readonly now: Clock
  readonly log: Log
}

const maxIntervalMs = 15_000
const batchSize = 200

/**
 * Reminds people of a handoff without an answer, once per timeout (H4). The store contains the due time, so that
 * neither a restart nor a second daemon misses or repeats a reminder.
 */
export function startReminders({ db, store, timeoutMs, now, log }: Deps) {
  async function run(): Promise<void> {
    for (const row of await store.due(db, now(), batchSize)) await remind(row)
  }

  const remind = ({ id, agent, domain, reminded }: HandoffRow) =>
    db.transact(async (tx) => {
      const at = now()
      // Counts from now, so that a daemon that was off for days reminds once.
      if (!(await store.remind(tx, id, at, at + timeoutMs))) return
      tx.append({
        type: 'handoff.reminded',
        actor: systemActor,
        domain,
        ids: { handoff: id, approval: id },
        data: { kind: 'handoff', requester: agent, times: reminded + 1 },
      })
    })

  const intervalMs = Math.min(timeoutMs, maxIntervalMs)
  const failure = 'could not read due handoffs'
  return startPeriodicTask({ intervalMs, run, failure, log })
}
