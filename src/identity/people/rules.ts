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

/** The purpose of a link: signing in or joining. */
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
/** The time for which an ended link can be distinguished from an unknown one. */
export const endedLinkRetentionMs = day
/** Each use extends a session by this time (I6). */
const idleTimeoutMs = 30 * day
/** A use is stored at most this often, so that reads do not cause writes. */
export const lastSeenIntervalMs = minute

export const isActive = (person: Person): boolean => person.removedAt === undefined

/** Returns whether a person may decide: reviewers and owners (I6). */
export const canDecide = (person: Person): boolean => isActive(person) && person.role !== 'viewer'

export const sessionExpiresAt = ({ lastSeenAt }: Session): number => lastSeenAt + idleTimeoutMs

/** Returns whether a session is valid: not ended, not idle for too long, and its person not removed. */
export const isSessionActive = ({ session, person }: SessionWithPerson, now: number): boolean =>
  session.endedAt === undefined && sessionExpiresAt(session) > now && isActive(person)

/** Authenticates the token of a session (I6, A3). */
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

const openConsoleHint = 'Open the console again with `cowork open`.'

const unknownSessionError: AuthError = {
  fault: 'wrong_token',
  message: 'Unknown session.',
  hint: openConsoleHint,
}

const endedSessionError = (person: string): AuthError => ({
  fault: 'ended_token',
  message: 'The session has ended: signed out, revoked, or unused for 30 days.',
  hint: openConsoleHint,
  claimed: person,
  principal: personPrincipal(person),
})

export type LinkErrorCode = 'unknown_link' | 'used_link' | 'expired_link' | 'void_link'

/**
 * Returns why a link is not valid, or undefined. `responsible` is the person who signs in or who invited; their current
 * role and status apply.
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

/** Yields candidate ids for a new person: `anna-berg`, then `anna-berg-2` and so on. Readable in the ledger. */
export function* candidateIds(name: string): Generator<string> {
  const words = name.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? ['person']
  const id = [...words.join('-')].slice(0, 40).join('')
  yield id
  for (let n = 2; ; n++) yield `${id}-${n}`
}
