import type { EntryDraft } from '#base/entry.ts'
import { errorMessage } from '#base/errors.ts'
import type { ErrorCode } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Db } from '#base/db/port.ts'

/** A read's entry joins the next commit, at the latest after this long (L12: 50 ms). */
const flushDelayMs = 25
const retryDelayMs = 1000
/** More than this many unrecorded reads means the store cannot keep up: refuse rather than forget. */
const maxPending = 20_000
/** The most entries in one transaction: a halt waits for the transaction before it (RS4). */
const maxEntries = 200

export type LedgerOutage = {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
}

/** Entries nobody waits for. When they cannot be written, calls are refused until they can (A11). */
export function createDeferredEntries(db: Db, check: (draft: EntryDraft) => void, log: Log) {
  const pending: EntryDraft[] = []
  let timer: NodeJS.Timeout | undefined
  let failure: string | undefined
  let flushing = Promise.resolve()

  /** One at a time, so that entries keep their order and closing waits for all of them. */
  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    return (flushing = flushing.then(writePending))
  }

  /** Entries that come meanwhile wait for the next flush: else each would get a commit of its own. */
  async function writePending(): Promise<void> {
    for (let left = pending.length; left > 0; left -= maxEntries)
      if (!(await writeBatch(pending.splice(0, Math.min(left, maxEntries))))) return
  }

  async function writeBatch(drafts: readonly EntryDraft[]): Promise<boolean> {
    try {
      await db.transact(async (tx) => {
        for (const draft of drafts) tx.append(draft)
      })
      if (failure) log.info('the ledger can be written again')
      failure = undefined
      return true
    } catch (error) {
      if (!failure) log.error('the ledger cannot be written', { error: errorMessage(error) })
      failure = errorMessage(error)
      pending.unshift(...drafts)
      clearTimeout(timer)
      timer = setTimeout(() => void flush(), retryDelayMs)
      return false
    }
  }

  return {
    appendDeferred(draft: EntryDraft) {
      // What may not be recorded must fail here, not take its neighbours with it later.
      check(draft)
      pending.push(draft)
      timer ??= setTimeout(() => void flush(), flushDelayMs)
    },
    flush,
    outage(): LedgerOutage | undefined {
      if (!failure && pending.length < maxPending) return undefined
      return {
        code: 'ledger_unwritable',
        message: `Nothing may run that cannot be recorded: ${failure ?? 'the ledger is overloaded'}`,
        hint: 'Try again shortly; `cowork status` and the log tell the cause.',
      }
    },
    async close() {
      do await flush()
      while (pending.length > 0 && !failure)
      clearTimeout(timer)
    },
  }
}
