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
  /** The identity that the caller claimed, unverified. */
  readonly claimed?: string
}

type Deps = {
  readonly now: Clock
  readonly sleep: Sleep
  readonly appendDeferred: (draft: EntryDraft) => void
  readonly log: Log
}

export type FailedAuth = ReturnType<typeof createFailedAuth>

/** Handles failed credentials: records an entry and delays the response to a guess (I9). */
export function createFailedAuth({ now, sleep, appendDeferred, log }: Deps) {
  const throttle = createAuthThrottle({ now, sleep })
  const recordFailure = createAuthFailureLog({ appendDeferred, sleep, log })
  const keys = (address: string, principal: string | undefined) =>
    principal === undefined ? [`address:${address}`] : [`address:${address}`, principal]

  return {
    failed: recordFailure,
    /** Records a guess and resolves when the response may be sent. Counts against the address and `principal`. */
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

/** Builds the entry with cowork as the actor: a claimed identity must not appear as actor. */
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
/** After this many failures the delay no longer grows. */
const maxStrikes = 10
const maxKeys = 10_000
const maxDelayed = 100

/** Returns the delay of the response to the n-th failure in a minute (I9). */
export const throttleDelayMs = (failures: number): number =>
  failures < minFailures ? 0 : Math.min(maxDelayMs, 1000 * 2 ** (failures - minFailures))

/** Creates a throttle that delays only responses to failures: guessing is slow, and the owner is never locked out (I9). */
export function createAuthThrottle({ now, sleep }: Pick<Deps, 'now' | 'sleep'>) {
  // Ordered by the last failure, so that the first key is the oldest.
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
    /** Counts a failure for each key and resolves when the response may be sent. */
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
  const message = 'Too many failed authentication attempts.'
  return new CoworkError('too_many_attempts', message, {
    hint: 'Wait, then retry with a valid token.',
    details: { error: true, auth_error: true, message, retry_after_seconds: delay / 1000 },
  })
}
