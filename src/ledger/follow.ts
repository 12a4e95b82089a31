import type { Db, Tx } from '#base/db/port.ts'
import type { EntryRow, LedgerStore } from './store.ts'

/** Polling covers notifications of other daemons that were lost with a connection. */
const pollIntervalMs = 2000
const pageSize = 500

/** Resolves after the next append. Must be called before a read: otherwise an entry in between would be missed. */
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

/** Yields entries after `after` in order, each exactly once, until the signal (L11). */
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

/** Runs in the transaction that moves the cursor; the returned function runs after the commit. */
export type FollowerHandler<E> = (tx: Tx, entries: E[]) => Promise<(() => void) | void>

/** The start of a follower without a cursor. */
export type StartPosition = 'first entry' | 'next entry'

/**
 * Runs a follower with a stored cursor. The cursor moves in the transaction of the handler, so that a restart or a second
 * daemon neither misses nor repeats an entry.
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
        // Another daemon runs the follower and reads again afterwards.
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
