import type { Clock } from '#base/clock.ts'
import { createCountedEntries } from '#base/counted-entry.ts'
import { systemActor } from '#base/entry.ts'
import type { EntryDraft } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'

export type Sleep = (ms: number) => Promise<void>

type AuthFailure = {
  readonly address: string
  readonly door: string
  readonly reason: string
  /** Who the caller said to be; never who it was. */
  readonly claimed?: string
}

type Deps = {
  readonly now: Clock
  readonly sleep: Sleep
  readonly appendDeferred: (draft: EntryDraft) => void
  readonly log: Log
}

export type FailedAuth = ReturnType<typeof createFailedAuth>

/** What every failed credential costs, whatever kind it is: an entry, and for guesses time (I9). */
export function createFailedAuth({ now, sleep, appendDeferred, log }: Deps) {
  const throttle = createAuthThrottle({ now, sleep })
  const recordFailure = createAuthFailureLog({ appendDeferred, sleep, log })
  const keys = (address: string, principal: string | undefined) =>
    principal === undefined ? [`address:${address}`] : [`address:${address}`, principal]

  return {
    failed: recordFailure,
    /** Resolves when the answer may be given. `principal` is whose patience it costs besides the address's. */
    async recordGuess(failure: AuthFailure, principal?: string): Promise<void> {
      recordFailure(failure)
      await throttle.failed(keys(failure.address, principal))
    },
    succeeded: (address: string, principal: string) => throttle.succeeded(keys(address, principal)),
  }
}

/** Records failed credentials (I9). */
export const createAuthFailureLog = (deps: Omit<Deps, 'now'>): ((failure: AuthFailure) => void) =>
  createCountedEntries({ ...deps, toEntry })

/** The actor is cowork itself: an entry must not name as actor whoever a stranger claims to be. */
const toEntry = (
  address: string,
  { door, reason, claimed }: AuthFailure,
  count: number,
): EntryDraft => ({
  type: 'auth.failed',
  actor: systemActor,
  domain: 'cowork',
  subject: address,
  outcome: reason,
  data: { door, count, ...(claimed !== undefined && { claimed }) },
})

const minute = 60_000
const minFailures = 5
const maxDelayMs = 30_000
/** From this many failures the wait no longer grows, so no more need be remembered. */
const maxStrikes = 10
const maxKeys = 10_000
const maxDelayed = 100

/** How long the answer to the n-th failure in a minute waits (I9). */
export const throttleDelayMs = (failures: number): number =>
  failures < minFailures ? 0 : Math.min(maxDelayMs, 1000 * 2 ** (failures - minFailures))

/** Only failing answers wait, so guessing is slow and the owner is never locked out (I9). */
export function createAuthThrottle({ now, sleep }: Pick<Deps, 'now' | 'sleep'>) {
  // In the order of the last failure, so the first is the one to drop.
  const failures = new Map<string, number[]>()
  let delayedCount = 0

  function countFailure(key: string): number {
    const at = now()
    const recent = (failures.get(key) ?? []).filter((time) => at - time < minute)
    recent.push(at)
    failures.delete(key)
    failures.set(key, recent.slice(-maxStrikes))
    const [oldest] = failures.keys()
    if (failures.size > maxKeys && oldest !== undefined) failures.delete(oldest)
    return recent.length
  }

  return {
    /** Counts a failure against each key and resolves when its answer may be given. */
    async failed(keys: readonly string[]): Promise<void> {
      const delay = throttleDelayMs(Math.max(0, ...keys.map(countFailure)))
      if (delay === 0) return
      if (delayedCount >= maxDelayed) throw tooManyAttemptsError(delay)
      delayedCount++
      try {
        await sleep(delay)
      } finally {
        delayedCount--
      }
    },
    succeeded(keys: readonly string[]): void {
      for (const key of keys) failures.delete(key)
    },
  }
}

function tooManyAttemptsError(delay: number): CoworkError {
  const message = 'Too many wrong credentials are being tried; this one was refused at once.'
  return new CoworkError('too_many_attempts', message, {
    hint: 'Wait a little, then try again with the right token.',
    details: { error: true, auth_error: true, message, retry_after_seconds: delay / 1000 },
  })
}
