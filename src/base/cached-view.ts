import type { Db, Tx } from './db/port.ts'
import { errorMessage } from './errors.ts'
import type { Log } from './log.ts'

type Options<T> = {
  readonly db: Pick<Db, 'transact' | 'onAppend'>
  /** The name for the log, such as `agents`. */
  readonly name: string
  /** The value before the first read. */
  readonly initial: T
  readonly read: (tx: Tx) => Promise<T>
  /** Receives each value and the number of the last change that it contains. */
  readonly onRead?: (value: T, upTo: number) => void
  readonly log: Pick<Log, 'warn'>
}

/** Caches a value of the store in memory, so that calls do not query the store. A transaction that changes the value invalidates it. */
export function createCachedView<T>({ db, name, initial, read, onRead, log }: Options<T>) {
  let value = initial
  // `changes` grows inside every transaction that changes the value; `readUpTo` follows after commit or rollback.
  let changes = 1
  let readUpTo = 0
  let reading: Promise<void> | undefined

  /**
   * Reads through `transact`, which runs bodies sequentially: the read comes after the change that invalidated the view
   * and never sees uncommitted data.
   */
  async function reload(): Promise<void> {
    const result = await db.transact(async (tx) => ({ upTo: changes, value: await read(tx) }))
    value = result.value
    readUpTo = result.upTo
    onRead?.(value, readUpTo)
  }

  async function current(): Promise<T> {
    while (readUpTo !== changes) {
      reading ??= reload().finally(() => (reading = undefined))
      await reading
    }
    return value
  }

  // Applies a change immediately and not only with the next call.
  const stopListening = db.onAppend(() => {
    if (readUpTo !== changes)
      current().catch((error: unknown) =>
        log.warn('cache refresh failed', { name, error: errorMessage(error) }),
      )
  })

  return {
    /** Returns the value of the last read, which may be stale. */
    latest: () => value,
    isCurrent: () => readUpTo === changes,
    current,
    /** Marks the value stale, inside the transaction that changes it. Returns the number of the change. */
    invalidate: () => ++changes,
    /** Reads again after every queued change. For changes that another daemon made. */
    async refresh(): Promise<T> {
      // The first increment: callers that wait for a running read must not receive a value from before the change.
      changes++
      await reading?.catch(() => undefined)
      changes++
      return current()
    },
    /** Changes the cached value directly, for writes outside of transactions that call `invalidate`. */
    update: (change: (before: T) => T) => void (value = change(value)),
    close: stopListening,
  }
}
