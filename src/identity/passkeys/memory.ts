import { randomBytes } from 'node:crypto'
import type { Clock } from '#base/clock.ts'

export type Purpose = 'register' | 'assert'

const minute = 60_000
const answerWithin = 2 * minute
const assuredFor = 5 * minute

/** Questions under way: each for one session and one purpose, answered once or never (I6). */
export function createChallenges(now: Clock) {
  const asked = new Map<string, { challenge: string; expiresAt: number }>()
  const keyOf = (session: string, purpose: Purpose) => `${purpose}:${session}`

  return {
    /** A new question takes the place of one that was not answered. */
    ask(session: string, purpose: Purpose) {
      dropOld(asked, ({ expiresAt }) => expiresAt <= now())
      const question = {
        challenge: randomBytes(32).toString('base64url'),
        expiresAt: now() + answerWithin,
      }
      asked.set(keyOf(session, purpose), question)
      return question
    },
    /** The question, which is gone from then on whatever the answer is worth. */
    take(session: string, purpose: Purpose): string | undefined {
      const key = keyOf(session, purpose)
      const question = asked.get(key)
      asked.delete(key)
      return question && question.expiresAt > now() ? question.challenge : undefined
    },
  }
}

/** Which sessions have shown a passkey lately. In memory only: a restart forgets, which is the safe side. */
export function createAssurance(now: Clock) {
  const shown = new Map<string, { passkey: string; until: number }>()

  return {
    grant(session: string, passkey: string): number {
      dropOld(shown, ({ until }) => until <= now())
      const until = now() + assuredFor
      shown.set(session, { passkey, until })
      return until
    },
    until(session: string): number | undefined {
      const until = shown.get(session)?.until
      return until !== undefined && until > now() ? until : undefined
    },
    /** What was gained by a passkey goes with it. */
    revoke: (passkey: string) => dropOld(shown, (entry) => entry.passkey === passkey),
  }
}

function dropOld<V>(map: Map<string, V>, isOld: (value: V) => boolean): void {
  for (const [key, value] of map) if (isOld(value)) map.delete(key)
}
