import { toActor } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { Actor, EntryDraft } from '#base/entry.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import { ownerId, personPrincipal } from '../credentials.ts'
import type { FailedAuth } from '../failed-auth.ts'
import { buildIdentityEntry } from '../entries.ts'
import type { ActingCall } from '../entries.ts'
import { mintSessionToken, hashSessionToken } from '../token.ts'
import { linkError } from './links.ts'
import type { CreatedLink, CreateLink } from './links.ts'
import { candidateIds, isSessionActive, checkLink, lastSeenIntervalMs } from './rules.ts'
import type {
  Invitation,
  Link,
  LinkErrorCode,
  SessionWithPerson,
  Person,
  Session,
} from './rules.ts'
import type { PeopleStore } from './store.ts'

export type SignIn = {
  readonly code: string
  readonly address: string
  readonly userAgent: string
}

export type EndReason = 'signed_out' | 'revoked' | 'person_removed'

type Deps = {
  readonly db: Db
  readonly store: PeopleStore
  readonly makeLink: CreateLink
  readonly failedAuth: FailedAuth
  readonly now: Clock
  readonly log: Log
}

const maxCodeLength = 256

/** Signs people in and out: exchanges links for sessions and authenticates sessions (I6). */
export function createPersonSessions({ db, store, makeLink, failedAuth, now, log }: Deps) {
  const updating = new Set<string>()

  /** Redeems a link in one transaction, so that only one of two concurrent requests succeeds. */
  async function redeemLink(tx: Tx, input: SignIn, hash: string) {
    const at = now()
    const link = await store.link(tx, sha256Hex(input.code))
    const responsible =
      link && (await store.person(tx, link.kind === 'open' ? link.person : link.invitedBy))
    const fault = checkLink(link, responsible, at)
    if (fault || !link || !responsible) return { fault: fault ?? 'unknown_link', link }
    if (!(await store.useLink(tx, link.hash, at))) return { fault: 'used_link' as const, link }
    const id = newId()
    const actorFor = (person: string): Actor => ({
      kind: 'human',
      id: person,
      session: id,
      verified: true,
      client: { name: input.userAgent.slice(0, 100), version: '', transport: 'http' },
    })
    const person = link.kind === 'open' ? responsible : await join(tx, link, at, actorFor)
    const userAgent = input.userAgent.slice(0, 300)
    await store.addSession(tx, { hash, id, person: person.id, userAgent, at })
    const data = { person: person.id, by: link.kind === 'open' ? 'link' : 'invitation' }
    tx.append(buildEntry('session.opened', actorFor(person.id), id, data))
    const session: Session = { id, person: person.id, userAgent, createdAt: at, lastSeenAt: at }
    return { person, session }
  }

  async function join(
    tx: Tx,
    { name, role, invitedBy }: Invitation,
    at: number,
    actorFor: (person: string) => Actor,
  ): Promise<Person> {
    for (const id of candidateIds(name)) {
      if (!(await store.addPerson(tx, { id, name, role, at }))) continue
      const data = { name, role, invited_by: invitedBy }
      tx.append(buildEntry('person.joined', actorFor(id), id, data))
      return { id, name, role, joinedAt: at }
    }
    throw new Error('unreachable: candidate ids are unlimited')
  }

  async function rejectLink(
    fault: LinkErrorCode,
    link: Link | undefined,
    { address }: SignIn,
  ): Promise<never> {
    await failedAuth.recordGuess({ address, door: 'api', reason: fault })
    throw linkError(fault, link)
  }

  return {
    /** Creates the owner on the first start (I6). */
    ensureOwner: () =>
      db.transact(async (tx) => {
        const owner = { id: ownerId, name: 'Owner', role: 'owner' } as const
        const { id, ...data } = owner
        if (await store.addPerson(tx, { ...owner, at: now() }))
          tx.append(buildEntry('person.joined', systemActor, id, data))
      }),

    /** Creates the link that the daemon prints at startup (SV2). */
    ownerLink: (): Promise<CreatedLink> =>
      db.transact(async (tx) => {
        const made = await makeLink(tx, { kind: 'open', person: ownerId })
        tx.append(buildEntry('link.made', systemActor, ownerId, { expires_at: made.expiresAt }))
        return made
      }),

    async openLink(tx: Tx, by: ActingCall): Promise<CreatedLink> {
      const made = await makeLink(tx, { kind: 'open', person: by.caller.id })
      tx.append(buildIdentityEntry(by, 'link.made', by.caller.id, { expires_at: made.expiresAt }))
      return made
    },

    /** Exchanges the code of a link for a session. The token is returned only here. */
    async signIn(input: SignIn): Promise<SessionWithPerson & { readonly token: string }> {
      if (input.code.length > maxCodeLength) return rejectLink('unknown_link', undefined, input)
      const { token, hash } = mintSessionToken()
      const outcome = await db.transact((tx) => redeemLink(tx, input, hash))
      if ('fault' in outcome) return rejectLink(outcome.fault, outcome.link, input)
      failedAuth.succeeded(input.address, personPrincipal(outcome.person.id))
      return { ...outcome, token }
    },

    /** Finds a session by token. Always reads the store, so that a revocation applies immediately in every daemon. */
    async byToken(token: string): Promise<SessionWithPerson | undefined> {
      const hash = hashSessionToken(token)
      return hash === undefined ? undefined : store.sessionByHash(db, hash)
    },

    /**
     * Stores when a session was last used. Appends no ledger entry: every action has one, and this time only extends the
     * session.
     */
    seen({ id, lastSeenAt }: Session): void {
      const at = now()
      if (at - lastSeenAt < lastSeenIntervalMs || updating.has(id)) return
      updating.add(id)
      db.transact((tx) => store.markSeen(tx, id, at))
        .catch((error: unknown) =>
          log.warn('session update failed', { error: errorMessage(error) }),
        )
        .finally(() => updating.delete(id))
    },

    /** Returns the calling person and, except for the owner's token, the session. */
    async me(caller: Caller): Promise<{ person: Person; session?: Session }> {
      const opened = await store.session(db, caller.session)
      if (opened?.person.id === caller.id) return opened
      const person = await store.person(db, caller.id)
      if (!person) throw new Error(`person not in the store: ${caller.id}`)
      return { person }
    },

    async listSessions(caller: Caller): Promise<SessionWithPerson[]> {
      const at = now()
      return (await store.sessions(db)).filter(
        (opened) =>
          isSessionActive(opened, at) &&
          (caller.role === 'owner' || opened.person.id === caller.id),
      )
    },

    async revokeSession(tx: Tx, id: string, by: ActingCall): Promise<{ id: string; at: number }> {
      const { caller } = by
      const opened = await store.session(tx, id)
      const isTheirs = opened && (caller.role === 'owner' || opened.person.id === caller.id)
      const at = now()
      if (!isTheirs || !(await store.endSession(tx, id, at)))
        throw new CoworkError('not_found', `Unknown or ended session: ${id}.`, {
          hint: 'Use an id from cowork_list_sessions.',
        })
      tx.append(sessionEndedEntry(opened.session, 'revoked', by))
      return { id, at }
    },

    async signOut(caller: Caller): Promise<void> {
      const done = await db.transact(async (tx) => {
        const opened = await store.session(tx, caller.session)
        if (!opened || !(await store.endSession(tx, caller.session, now()))) return false
        const { session } = opened
        const data = { person: session.person, reason: 'signed_out' satisfies EndReason }
        tx.append(buildEntry('session.ended', toActor(caller), session.id, data))
        return true
      })
      if (!done)
        throw new CoworkError('not_found', "Cannot sign out: the owner's token is not a session.", {
          hint: 'To replace the token, delete its file and restart the daemon.',
        })
    },
  }
}

const buildEntry = (type: string, actor: Actor, subject: string, data: object): EntryDraft => ({
  type,
  actor,
  domain: 'cowork',
  subject,
  data: { ...data },
})

export const sessionEndedEntry = (
  { id, person }: Pick<Session, 'id' | 'person'>,
  reason: EndReason,
  by: ActingCall,
): EntryDraft => buildIdentityEntry(by, 'session.ended', id, { person, reason })
