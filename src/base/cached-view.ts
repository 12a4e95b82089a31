import type { Db, Tx } from './db/port.ts'
import { errorMessage } from './errors.ts'
import type { Log } from './log.ts'

type Options<T> = {
  readonly db: Pick<Db, 'transact' | 'onAppend'>
  /** What it is a view of, for the log, such as `agents`. */
  readonly name: string
  /** What is known before the first read. */
  readonly initial: T
  readonly read: (tx: Tx) => Promise<T>
  /** Told of each value that was read, and of the change up to which it is. */
  readonly onRead?: (value: T, upTo: number) => void
  readonly log: Pick<Log, 'warn'>
}

/** What the store says, in memory, so that no call has to read it. A change in a transaction makes it stale. */
export function createCachedView<T>({ db, name, initial, read, onRead, log }: Options<T>) {
  let value = initial
  // `changes` grows inside every transaction that changes it, `readUpTo` follows once its outcome is known.
  let changes = 1
  let readUpTo = 0
  let reading: Promise<void> | undefined

  /**
   * Reads through `transact`, whose bodies run one after the other: this one stands behind the change that made the
   * view stale and sees what became of it. A change rolled back later is never seen.
   */
  async function readAgain(): Promise<void> {
    const result = await db.transact(async (tx) => ({ upTo: changes, value: await read(tx) }))
    value = result.value
    readUpTo = result.upTo
    onRead?.(value, readUpTo)
  }

  async function current(): Promise<T> {
    while (readUpTo !== changes) {
      reading ??= readAgain().finally(() => (reading = undefined))
      await reading
    }
    return value
  }

  // So that a change takes effect at once and not only with the next call.
  const stopListening = db.onAppend(() => {
    if (readUpTo !== changes)
      current().catch((error: unknown) =>
        log.warn(`${name} could not be read again`, { error: errorMessage(error) }),
      )
  })

  return {
    /** As it was read last, stale or not. */
    latest: () => value,
    isCurrent: () => readUpTo === changes,
    current,
    /** Said inside a transaction that changes it, before it is known whether it commits. Gives the change's number. */
    invalidate: () => ++changes,
    /** Reads again behind every change that is queued by now: for changes that another daemon made. */
    async refresh(): Promise<T> {
      // At once too: callers that wait for the read under way must not take what it read before the change.
      changes++
      await reading?.catch(() => undefined)
      changes++
      return current()
    },
    /** For what is written past the transactions that say `invalidate`. */
    update: (change: (before: T) => T) => void (value = change(value)),
    close: stopListening,
  }
}
