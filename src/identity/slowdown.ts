import type { Clock } from '#base/clock.ts'
import { CoworkError } from '#base/errors.ts'

export type Sleep = (ms: number) => Promise<void>

const minute = 60_000
const firstSlow = 5
const longest = 30_000
/** From this many failures the wait no longer grows, so no more need be remembered. */
const mostStrikes = 10
const mostKeys = 10_000
const mostWaiting = 100

/** How long the answer to the n-th failure in a minute waits (I9). */
export const delayAfter = (failures: number): number =>
  failures < firstSlow ? 0 : Math.min(longest, 1000 * 2 ** (failures - firstSlow))

export type Slowdown = {
  /** Counts a failure against each key and resolves when its answer may be given. */
  failed(keys: readonly string[]): Promise<void>
  succeeded(keys: readonly string[]): void
}

/** Only failing answers wait, so guessing is slow and the owner is never locked out (I9). */
export function createSlowdown({ now, sleep }: { now: Clock; sleep: Sleep }): Slowdown {
  // In the order of the last failure, so the first is the one to drop.
  const strikes = new Map<string, number[]>()
  let waiting = 0

  function strike(key: string): number {
    const at = now()
    const recent = (strikes.get(key) ?? []).filter((time) => at - time < minute)
    recent.push(at)
    strikes.delete(key)
    strikes.set(key, recent.slice(-mostStrikes))
    const [oldest] = strikes.keys()
    if (strikes.size > mostKeys && oldest !== undefined) strikes.delete(oldest)
    return recent.length
  }

  return {
    async failed(keys) {
      const delay = delayAfter(Math.max(0, ...keys.map(strike)))
      if (delay === 0) return
      if (waiting >= mostWaiting) throw tooMany(delay)
      waiting++
      try {
        await sleep(delay)
      } finally {
        waiting--
      }
    },
    succeeded(keys) {
      for (const key of keys) strikes.delete(key)
    },
  }
}

function tooMany(delay: number): CoworkError {
  const message = 'Too many wrong credentials are being tried; this one was refused at once.'
  return new CoworkError('too_many_attempts', message, {
    hint: 'Wait a little, then try again with the right token.',
    details: { error: true, auth_error: true, message, retry_after_seconds: delay / 1000 },
  })
}
