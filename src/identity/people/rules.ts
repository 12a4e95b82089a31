import type { Role } from '#base/caller.ts'
import { personPrincipal } from '../credentials.ts'
import { personTokenOnMcpError, conflictingTokensError } from '../rules.ts'
import type { AuthError, PresentedCredentials, AuthenticatedCaller } from '../rules.ts'

export type Person = {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly joinedAt: number
  readonly removedAt?: number
}

export type Session = {
  readonly id: string
  readonly person: string
  readonly userAgent: string
  readonly createdAt: number
  readonly lastSeenAt: number
  readonly endedAt?: number
}

export type SessionWithPerson = { readonly session: Session; readonly person: Person }

/** What a link is good for: opening the console as someone, or becoming someone. */
export type Purpose =
  | { readonly kind: 'open'; readonly person: string }
  | {
      readonly kind: 'invite'
      readonly name: string
      readonly role: Role
      readonly invitedBy: string
    }
export type Link<P = Purpose> = P & {
  readonly hash: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly usedAt?: number
}
export type Invitation = Link<Extract<Purpose, { kind: 'invite' }>>

const minute = 60_000
const day = 24 * 60 * minute

export const linkTtlMs = { open: 5 * minute, invite: day } satisfies Record<Purpose['kind'], number>
/** How long a link that has ended is still told from one that never was. */
export const endedLinkRetentionMs = day
/** Sessions slide: each use gives them this long again (I6). */
const idleTimeoutMs = 30 * day
/** A use is written down at most this often, so that reading does not become writing. */
export const lastSeenIntervalMs = minute

export const isActive = (person: Person): boolean => person.removedAt === undefined

/** To decide is for reviewers and owners (I6). */
export const canDecide = (person: Person): boolean => isActive(person) && person.role !== 'viewer'

export const sessionExpiresAt = ({ lastSeenAt }: Session): number => lastSeenAt + idleTimeoutMs

/** Whether the session still opens the door: not ended, not idle for too long, and its person still here. */
export const isSessionActive = ({ session, person }: SessionWithPerson, now: number): boolean =>
  session.endedAt === undefined && sessionExpiresAt(session) > now && isActive(person)

/** Who comes in by the token of a session, or why nobody does (I6, A3). */
export function authenticateSession(
  match: SessionWithPerson | undefined,
  { door, bearer, agentToken, client }: PresentedCredentials,
  now: number,
): AuthenticatedCaller | AuthError {
  if (bearer && agentToken && bearer !== agentToken) return conflictingTokensError
  if (!match) return unknownSessionError
  const { session, person } = match
  if (!isSessionActive(match, now)) return endedSessionError(person.id)
  if (door === 'mcp') return personTokenOnMcpError(person.id)
  return {
    principal: personPrincipal(person.id),
    sessionKey: session.id,
    session: session.id,
    caller: {
      kind: 'human',
      id: person.id,
      role: person.role,
      verified: true,
      scopes: ['*'],
      channel: 'console',
      ...(client && { client }),
    },
  }
}

const openConsoleHint = '`cowork open` opens the console with a new one.'

const unknownSessionError: AuthError = {
  fault: 'wrong_token',
  message: 'The session is not one that cowork knows.',
  hint: openConsoleHint,
}

const endedSessionError = (person: string): AuthError => ({
  fault: 'ended_token',
  message: 'The session has ended: signed out, revoked, or not used for 30 days.',
  hint: openConsoleHint,
  claimed: person,
  principal: personPrincipal(person),
})

export type LinkErrorCode = 'unknown_link' | 'used_link' | 'expired_link' | 'void_link'

/**
 * Why a link does not open, if so. `behind` is whom it opens for, or who invited: a link is worth no more
 * than they are on the day it is used.
 */
export function checkLink(
  link: Link | undefined,
  responsible: Person | undefined,
  now: number,
): LinkErrorCode | undefined {
  if (!link) return 'unknown_link'
  if (link.usedAt !== undefined) return 'used_link'
  if (link.expiresAt <= now) return 'expired_link'
  const isValid =
    responsible && isActive(responsible) && (link.kind === 'open' || responsible.role === 'owner')
  return isValid ? undefined : 'void_link'
}

/** Ids to try for a newcomer: `anna-berg`, then `anna-berg-2` and so on. The ledger reads better than with numbers. */
export function* candidateIds(name: string): Generator<string> {
  const words = name.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? ['person']
  const id = [...words.join('-')].slice(0, 40).join('')
  yield id
  for (let n = 2; ; n++) yield `${id}-${n}`
}
