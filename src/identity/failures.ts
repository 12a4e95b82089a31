import { systemActor } from '#base/entry.ts'
import type { Draft } from '#base/entry.ts'
import { messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Sleep } from './slowdown.ts'

export type Failure = {
  readonly address: string
  readonly door: string
  readonly reason: string
  /** Who the caller said to be; never who it was. */
  readonly claimed?: string
}

const second = 1000
/** Beyond these, addresses share one window: a flood from many must not fill the ledger either. */
const mostWindows = 100
const elsewhere = 'other addresses'

type Deps = {
  readonly note: (draft: Draft) => void
  readonly sleep: Sleep
  readonly log: Log
}

/** Records failed credentials, at most one entry per address and second, none uncounted (I9). */
export function createFailureNotes({ note, sleep, log }: Deps): (failure: Failure) => void {
  const windows = new Map<string, { count: number; last: Failure }>()

  async function watch(key: string, window: { count: number; last: Failure }) {
    for (;;) {
      await sleep(second)
      if (window.count === 0) break
      note(entry(key, window.last, window.count))
      window.count = 0
    }
    windows.delete(key)
  }

  return (failure) => {
    const address = failure.address.slice(0, 64)
    const key = windows.has(address) || windows.size < mostWindows ? address : elsewhere
    const open = windows.get(key)
    if (open) {
      open.count++
      open.last = failure
      return
    }
    const window = { count: 0, last: failure }
    windows.set(key, window)
    note(entry(key, failure, 1))
    watch(key, window).catch((error: unknown) => {
      windows.delete(key)
      log.warn('failed credentials went uncounted', { error: messageOf(error) })
    })
  }
}

/** The actor is cowork itself: an entry must not name as actor whoever a stranger claims to be. */
const entry = (address: string, { door, reason, claimed }: Failure, count: number): Draft => ({
  type: 'auth.failed',
  actor: systemActor,
  domain: 'cowork',
  subject: address,
  outcome: reason,
  data: { door, count, ...(claimed !== undefined && { claimed }) },
})
