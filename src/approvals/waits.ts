import type { Db } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'
import { messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'

/** A notification of another daemon can be lost with its connection; a slow look makes up for it. */
const lookEvery = 2000
const mostAtOnce = 500

type Row = { id: string; kind: string; status: string; run_until: number | null }

/**
 * Wakes whoever waits for a decision or for the run of an approved call, whichever process made it (A6). The store is
 * asked once for all of them, after a commit that appended something: both always do.
 */
export function createWaits(db: Db, log: Log) {
  const waiting = new Map<string, Set<() => void>>()
  const sql = builder<{ approval: Row }>(db.dialect)
  let looking = false
  let again = false
  let stop: (() => void) | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function look(): Promise<void> {
    again = true
    if (looking) return
    looking = true
    try {
      while (again && waiting.size > 0) {
        again = false
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
    } catch (error) {
      log.warn('waiting calls could not be looked up', { error: messageOf(error) })
    } finally {
      looking = false
    }
  }

  function wake(id: string) {
    for (const resolve of waiting.get(id) ?? []) resolve()
  }

  function begin() {
    stop = db.onGrowth(() => void look())
    timer = setInterval(() => void look(), lookEvery).unref()
  }
  function end() {
    stop?.()
    stop = undefined
    clearInterval(timer)
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
        void look()
      })
    },
    /** Whether a call waits here for this approval. */
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
