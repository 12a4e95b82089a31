import type { Db } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'
import type { Log } from '#base/log.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'
import type { PeriodicTask } from '#base/periodic-task.ts'

/** A notification of another daemon can be lost with its connection; a slow look makes up for it. */
const lookEvery = 2000
const mostAtOnce = 500

type Row = { id: string; kind: string; status: string; run_until: number | null }

/**
 * Wakes whoever waits for a decision or for the run of an approved call, whichever process made it (A6). The store is
 * asked once for all of them, after a commit that appended something: both always do.
 */
export function createDecisionWaiters(db: Db, log: Log) {
  const waiting = new Map<string, Set<() => void>>()
  const sql = builder<{ approval: Row }>(db.dialect)
  let task: PeriodicTask | undefined
  let stopListening: (() => void) | undefined
  let isClosed = false

  async function look(): Promise<void> {
    const ids = [...waiting.keys()]
    for (let at = 0; at < ids.length; at += mostAtOnce) {
      const some = ids.slice(at, at + mostAtOnce)
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

  const lookNow = () => void task?.runNow()

  function begin() {
    const failure = 'waiting calls could not be looked up'
    task = startPeriodicTask({ intervalMs: lookEvery, run: look, failure, log })
    stopListening = db.onAppend(lookNow)
  }
  function end() {
    stopListening?.()
    void task?.close()
  }

  return {
    async finished(id: string, ms: number, signal: AbortSignal): Promise<void> {
      if (ms <= 0 || signal.aborted || isClosed) return
      await new Promise<void>((resolve) => {
        const patience = setTimeout(done, ms)
        function done() {
          clearTimeout(patience)
          signal.removeEventListener('abort', done)
          const others = waiting.get(id)
          others?.delete(done)
          if (others?.size === 0) waiting.delete(id)
          if (waiting.size === 0) end()
          resolve()
        }
        signal.addEventListener('abort', done, { once: true })
        if (waiting.size === 0) begin()
        const others = waiting.get(id) ?? new Set()
        waiting.set(id, others.add(done))
        // It may have been decided before we listened.
        lookNow()
      })
    },
    isAwaited: (id: string): boolean => waiting.has(id),
    close() {
      isClosed = true
      for (const id of waiting.keys()) wake(id)
    },
  }
}

/** Decided; and an approved call has run (A15). */
const isFinished = ({ kind, status, run_until: runUntil }: Row): boolean =>
  runUntil === null && !(kind === 'call' && status === 'approved')
