import type { Db } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'
import type { Log } from '#base/log.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'
import type { PeriodicTask } from '#base/periodic-task.ts'

/**
 * A notification from another daemon can be lost with its connection; slow polling covers that
 * case.
 */
const pollIntervalMs = 2000
const batchSize = 500

type Row = { id: string; kind: string; status: string; run_until: number | null }

/**
 * Wakes callers that wait for a decision or for the run of an approved call, whichever process
 * made it (A6). One query serves all of them; it runs after each commit that appended entries,
 * because decisions and runs always append.
 */
export function createDecisionWaiters(db: Db, log: Log) {
  const waiting = new Map<string, Set<() => void>>()
  const sql = builder<{ approval: Row }>(db.dialect)
  let task: PeriodicTask | undefined
  let stopListening: (() => void) | undefined
  let isClosed = false

  async function poll(): Promise<void> {
    const ids = [...waiting.keys()]
    for (let at = 0; at < ids.length; at += batchSize) {
      const some = ids.slice(at, at + batchSize)
      const decided = sql
        .selectFrom('approval')
        .select(['id', 'kind', 'status', 'run_until'])
        .where('id', 'in', some)
        .where('status', '<>', 'pending')
      for (const row of await db.all(query(decided))) if (isFinished(row)) wake(row.id)
    }
  }

  function wake(id: string) {
    for (const resolve of waiting.get(id) ?? []) resolve()
  }

  const pollNow = () => void task?.runNow()

  function start() {
    const failure = 'polling of pending decisions failed'
    task = startPeriodicTask({ intervalMs: pollIntervalMs, run: poll, failure, log })
    stopListening = db.onAppend(pollNow)
  }
  function stop() {
    stopListening?.()
    void task?.close()
  }

  return {
    async waitUntilFinished(id: string, ms: number, signal: AbortSignal): Promise<void> {
      if (ms <= 0 || signal.aborted || isClosed) return
      await new Promise<void>((resolve) => {
        const timeout = setTimeout(done, ms)
        function done() {
          clearTimeout(timeout)
          signal.removeEventListener('abort', done)
          const others = waiting.get(id)
          others?.delete(done)
          if (others?.size === 0) waiting.delete(id)
          if (waiting.size === 0) stop()
          resolve()
        }
        signal.addEventListener('abort', done, { once: true })
        if (waiting.size === 0) start()
        const others = waiting.get(id) ?? new Set()
        waiting.set(id, others.add(done))
        // The decision may have been committed before the listener was registered.
        pollNow()
      })
    },
    isAwaited: (id: string): boolean => waiting.has(id),
    close() {
      isClosed = true
      for (const id of waiting.keys()) wake(id)
    },
  }
}

/** True when the approval is decided and, for an approved call, when the call has run (A15). */
const isFinished = ({ kind, status, run_until: runUntil }: Row): boolean =>
  runUntil === null && !(kind === 'call' && status === 'approved')
