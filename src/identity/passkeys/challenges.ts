import { randomBytes } from 'node:crypto'
import type { Clock } from '#base/clock.ts'
import { sha256 } from '#base/hash.ts'

export type ChallengePurpose = 'register' | 'assert'

const minute = 60_000
const answerTimeoutMs = 2 * minute
const stepUpTtlMs = 5 * minute

/** `decision` is the digest of the decision to confirm; absent for settings. */
type PendingChallenge = {
  readonly challenge: string
  readonly expiresAt: number
  readonly decision?: string | undefined
}

/** Stores pending challenges: one per session and purpose, each usable once (I6). */
export function createChallenges(now: Clock) {
  const pending = new Map<string, PendingChallenge>()
  const toKey = (session: string, purpose: ChallengePurpose) => `${purpose}:${session}`

  return {
    /** Creates a challenge and replaces a pending one. */
    create(session: string, purpose: ChallengePurpose, decision?: string): PendingChallenge {
      deleteWhere(pending, ({ expiresAt }) => expiresAt <= now())
      // The challenge includes the decision, so that the passkey signs both.
      const nonce = randomBytes(32)
      const signed = decision === undefined ? nonce : sha256(`${nonce.toString('hex')}:${decision}`)
      const question = {
        challenge: signed.toString('base64url'),
        expiresAt: now() + answerTimeoutMs,
        decision,
      }
      pending.set(toKey(session, purpose), question)
      return question
    },
    /** Returns and deletes the challenge, even if the response is invalid. */
    take(session: string, purpose: ChallengePurpose): PendingChallenge | undefined {
      const key = toKey(session, purpose)
      const question = pending.get(key)
      pending.delete(key)
      return question && question.expiresAt > now() ? question : undefined
    },
  }
}

/** Tracks sessions that confirmed with a passkey recently. In memory only: a restart requires a new confirmation. */
export function createStepUpSessions(now: Clock) {
  const steppedUp = new Map<string, { passkey: string; until: number }>()
  const confirmed = new Map<string, { passkey: string; until: number }>()
  const keyOf = (session: string, decision: string) => `${session}:${decision}`

  return {
    grant(session: string, passkey: string): number {
      deleteWhere(steppedUp, ({ until }) => until <= now())
      const until = now() + stepUpTtlMs
      steppedUp.set(session, { passkey, until })
      return until
    },
    until(session: string): number | undefined {
      const until = steppedUp.get(session)?.until
      return until !== undefined && until > now() ? until : undefined
    },
    /** Confirms one decision for a short time. */
    confirm(session: string, passkey: string, decision: string): number {
      deleteWhere(confirmed, ({ until }) => until <= now())
      const until = now() + answerTimeoutMs
      confirmed.set(keyOf(session, decision), { passkey, until })
      return until
    },
    take(session: string, decision: string): boolean {
      const key = keyOf(session, decision)
      const until = confirmed.get(key)?.until
      confirmed.delete(key)
      return until !== undefined && until > now()
    },
    /** Deletes all confirmations by this passkey. */
    revoke(passkey: string): void {
      for (const map of [steppedUp, confirmed])
        deleteWhere(map, (entry) => entry.passkey === passkey)
    },
  }
}

function deleteWhere<V>(map: Map<string, V>, isOld: (value: V) => boolean): void {
  for (const [key, value] of map) if (isOld(value)) map.delete(key)
}
