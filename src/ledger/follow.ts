import type { Db, Tx } from '#base/db/port.ts'
import type { EntryRow, LedgerStore } from './store.ts'

/** Another daemon's notification can be lost with its connection; a slow poll makes up for it. */
const pollIntervalMs = 2000
const pageSize = 500

/** Resolves at the next growth. Ask before reading, or an entry that lands in between is slept through. */
function waitForAppend(
  db: Db,
  signal: AbortSignal,
): { appended: Promise<void>; cancel: () => void } {
  let cancel = () => {}
  const appended = new Promise<void>((resolve) => {
    const stop = db.onAppend(resolve)
    const timer = setTimeout(resolve, pollIntervalMs)
    const aborted = () => resolve()
    signal.addEventListener('abort', aborted, { once: true })
    cancel = () => {
      stop()
      clearTimeout(timer)
      signal.removeEventListener('abort', aborted)
    }
  })
  return { appended, cancel }
}

/** Entries after `after`, in order, none missed and none twice, until the signal (L11). */
export async function* follow(
  db: Db,
  store: LedgerStore,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<EntryRow[], void> {
  let lastSeq = after
  while (!signal.aborted) {
    const { appended, cancel } = waitForAppend(db, signal)
    try {
      const rows = await store.page(db, lastSeq, pageSize)
      const last = rows.at(-1)
      if (last) {
        lastSeq = last.seq
        yield rows
      } else {
        await appended
      }
    } finally {
      cancel()
    }
  }
}

/** Works in the transaction that moves the follower's place; what it gives back is done after the commit. */
export type FollowerHandler<E> = (tx: Tx, entries: E[]) => Promise<(() => void) | void>

/** Where a follower begins that has no place yet. */
export type StartPosition = 'first entry' | 'next entry'

/**
 * A follower whose place is kept in the store and moves in the transaction of what it does, so a
 * restart or a second daemon neither misses nor repeats an entry.
 */
export async function runFollower(
  db: Db,
  store: LedgerStore,
  name: string,
  handle: FollowerHandler<EntryRow>,
  signal: AbortSignal,
  from: StartPosition,
): Promise<void> {
  while (!signal.aborted) {
    const { appended, cancel } = waitForAppend(db, signal)
    try {
      const handled = await db.transact(async (tx) => {
        const start = from === 'next entry' ? ((await store.peek(tx))?.size ?? 0) : 0
        const cursor = await store.cursor(tx, name, start)
        // Another daemon is at it, and looks once more when it is done.
        if (cursor === undefined) return undefined
        const rows = await store.page(tx, cursor, pageSize)
        const last = rows.at(-1)
        if (!last) return undefined
        const after = await handle(tx, rows)
        await store.saveCursor(tx, name, last.seq)
        return { after }
      })
      if (handled) handled.after?.()
      else await appended
    } finally {
      cancel()
    }
  }
}
