import type { EntryDraft } from './entry.ts'
import { errorMessage } from './errors.ts'
import type { Log } from './log.ts'

const second = 1000
/** Further addresses share one window: a flood from many addresses must not fill the ledger. */
const maxWindows = 100
const otherAddresses = 'other addresses'

type Deps<E> = {
  readonly toEntry: (address: string, event: E, count: number) => EntryDraft
  /** Appends without waiting for the commit, like `appendDeferred` of the ledger. */
  readonly appendDeferred: (draft: EntryDraft) => void
  readonly sleep: (ms: number) => Promise<unknown>
  readonly log: Log
}

/** Records events of unauthenticated callers: at most one entry per address and second, with a count (I9). */
export function createCountedEntries<E extends { readonly address: string }>(
  deps: Deps<E>,
): (event: E) => void {
  const { toEntry, appendDeferred, sleep, log } = deps
  const windows = new Map<string, { count: number; last: E }>()

  async function watch(key: string, window: { count: number; last: E }) {
    for (;;) {
      await sleep(second)
      if (window.count === 0) break
      appendDeferred(toEntry(key, window.last, window.count))
      window.count = 0
    }
    windows.delete(key)
  }

  return (event) => {
    const address = event.address.slice(0, 64)
    const key = windows.has(address) || windows.size < maxWindows ? address : otherAddresses
    const open = windows.get(key)
    if (open) {
      open.count++
      open.last = event
      return
    }
    const window = { count: 0, last: event }
    windows.set(key, window)
    appendDeferred(toEntry(key, event, 1))
    watch(key, window).catch((error: unknown) => {
      windows.delete(key)
      log.warn('event counting failed', { error: errorMessage(error) })
    })
  }
}
