import type { EntryDraft } from './entry.ts'
import { errorMessage } from './errors.ts'
import type { Log } from './log.ts'

const second = 1000
/** Beyond these, addresses share one window: a flood from many must not fill the ledger either. */
const maxWindows = 100
const elsewhere = 'other addresses'

type Deps<E> = {
  readonly toEntry: (address: string, event: E, count: number) => EntryDraft
  /** Lazily durable, as `note` of the ledger. */
  readonly note: (draft: EntryDraft) => void
  readonly sleep: (ms: number) => Promise<unknown>
  readonly log: Log
}

/** Records what strangers cause, at most one entry per address and second, none uncounted (I9). */
export function createCountedEntries<E extends { readonly address: string }>(
  deps: Deps<E>,
): (event: E) => void {
  const { toEntry, note, sleep, log } = deps
  const windows = new Map<string, { count: number; last: E }>()

  async function watch(key: string, window: { count: number; last: E }) {
    for (;;) {
      await sleep(second)
      if (window.count === 0) break
      note(toEntry(key, window.last, window.count))
      window.count = 0
    }
    windows.delete(key)
  }

  return (event) => {
    const address = event.address.slice(0, 64)
    const key = windows.has(address) || windows.size < maxWindows ? address : elsewhere
    const open = windows.get(key)
    if (open) {
      open.count++
      open.last = event
      return
    }
    const window = { count: 0, last: event }
    windows.set(key, window)
    note(toEntry(key, event, 1))
    watch(key, window).catch((error: unknown) => {
      windows.delete(key)
      log.warn('ledger: events went uncounted', { error: errorMessage(error) })
    })
  }
}
