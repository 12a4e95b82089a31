import type { EntryDraft } from '#base/entry.ts'
import { errorMessage } from '#base/errors.ts'
import type { ErrorCode } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Db } from '#base/db/port.ts'

/** The maximum delay before the entry of a read is committed (L12: 50 ms). */
const flushDelayMs = 25
const retryDelayMs = 1000
/** With more unrecorded reads the store is overloaded, and calls are refused instead of losing entries. */
const maxPending = 20_000
/** Maximum number of entries per transaction: a halt waits for the previous transaction (RS4). */
const maxEntries = 200

export type LedgerOutage = {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
}

/** Queues entries without waiting for their commit. While they cannot be written, calls are refused (A11). */
export function createDeferredEntries(db: Db, check: (draft: EntryDraft) => void, log: Log) {
  const pending: EntryDraft[] = []
  let timer: NodeJS.Timeout | undefined
  let failure: string | undefined
  let flushing = Promise.resolve()

  /** Sequential, so that entries keep their order and `close` waits for all of them. */
  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    return (flushing = flushing.then(writePending))
  }

  /** Entries that arrive during a flush wait for the next one: otherwise each would get its own commit. */
  async function writePending(): Promise<void> {
    for (let left = pending.length; left > 0; left -= maxEntries)
      if (!(await writeBatch(pending.splice(0, Math.min(left, maxEntries))))) return
  }

  async function writeBatch(drafts: readonly EntryDraft[]): Promise<boolean> {
    try {
      await db.transact(async (tx) => {
        for (const draft of drafts) tx.append(draft)
      })
      if (failure) log.info('ledger writes resumed')
      failure = undefined
      return true
    } catch (error) {
      if (!failure) log.error('ledger write failed', { error: errorMessage(error) })
      failure = errorMessage(error)
      pending.unshift(...drafts)
      clearTimeout(timer)
      timer = setTimeout(() => void flush(), retryDelayMs)
      return false
    }
  }

  return {
    appendDeferred(draft: EntryDraft) {
      // An invalid entry must fail here: in the batch it would also fail the other entries.
      check(draft)
      pending.push(draft)
      timer ??= setTimeout(() => void flush(), flushDelayMs)
    },
    flush,
    outage(): LedgerOutage | undefined {
      if (!failure && pending.length < maxPending) return undefined
      return {
        code: 'ledger_unwritable',
        message: `The ledger cannot record calls: ${failure ?? 'it is overloaded'}`,
        hint: 'Retry shortly; `cowork status` and the log show the cause.',
      }
    },
    async close() {
      do await flush()
      while (pending.length > 0 && !failure)
      clearTimeout(timer)
    },
  }
}
