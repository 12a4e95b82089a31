import { toActor } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import type { EntryDraft } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { sha256 } from '#base/hash.ts'
import { personPrincipal } from '../credentials.ts'
import type { FailedAuth } from '../failed-auth.ts'
import { buildIdentityEntry } from '../entries.ts'
import type { ActingCall } from '../entries.ts'
import { normalizeName } from '../ids.ts'
import { isSessionActive } from '../people/rules.ts'
import type { Person } from '../people/rules.ts'
import type { PeopleStore } from '../people/store.ts'
import { createStepUpSessions, createChallenges } from './challenges.ts'
import type { ChallengePurpose } from './challenges.ts'
import type { Passkey, PasskeyStore } from './store.ts'
import { verifyAssertion, verifyRegistration } from './verify.ts'
import type { Assertion, ExpectedChallenge, RejectionReason, Registration } from './verify.ts'

export type PasskeyRequestContext = { readonly caller: Caller; readonly address: string }

export type Challenge = {
  readonly challenge: string
  readonly rpId: string
  readonly expiresAt: number
  /** `handle` identifies the person for the authenticator without a name. */
  readonly user: { readonly handle: string; readonly person: Person }
  /** The passkeys of this person, to select one or to exclude them from registration. */
  readonly allow: readonly string[]
}

type Deps = {
  readonly db: Db
  readonly store: PasskeyStore
  readonly people: PeopleStore
  readonly failedAuth: FailedAuth
  readonly now: Clock
  readonly consoleUrl: () => string
}

/**
 * Provides step-up authentication for high risk (I6): an agent with a shell can read the owner's token and open a session,
 * but cannot use the passkey.
 */
export function createPasskeys({ db, store, people, failedAuth, now, consoleUrl }: Deps) {
  const challenges = createChallenges(now)
  const stepUpSessions = createStepUpSessions(now)
  const has = async (person: string) => (await store.listIds(db, person)).length > 0

  /** Returns the person of the browser session. The owner's token is not sufficient: programs can read it from its file. */
  async function getSessionPerson(caller: Caller): Promise<Person> {
    const opened = await people.session(db, caller.session)
    if (opened && opened.person.id === caller.id && isSessionActive(opened, now()))
      return opened.person
    throw new CoworkError('session_required', 'A passkey requires a console session.', {
      hint: 'Open the console with `cowork open`.',
    })
  }

  /** Requires an existing passkey to add another: otherwise a program with the owner's token could add its own. */
  function assertSteppedUp(caller: Caller, allow: readonly string[]) {
    if (allow.length > 0 && stepUpSessions.until(caller.session) === undefined)
      throw new CoworkError(
        'passkey_required',
        'Adding a passkey requires confirmation with an existing one.',
        {
          hint: 'Confirm with your passkey, then add the new one.',
        },
      )
  }

  const toExpectedChallenge = (
    type: ExpectedChallenge['type'],
    challenge: string,
  ): ExpectedChallenge => {
    const { origin, hostname } = new URL(consoleUrl())
    return { type, challenge, origin, rpId: hostname }
  }

  const entry = (
    type: string,
    caller: Caller,
    id: string,
    more: Partial<EntryDraft> = {},
  ): EntryDraft => ({
    type,
    actor: toActor(caller),
    domain: 'cowork',
    subject: id,
    ...more,
  })

  const advance = ({ id, signCount }: Passkey, to: number, caller: Caller, decision?: string) =>
    db.transact(async (tx) => {
      if (!(await store.updateCount(tx, id, { from: signCount, to }, now())))
        return { rejected: 'counter_back' as const }
      tx.append(entry('passkey.asserted', caller, id, decision ? { data: { decision } } : {}))
      return {}
    })

  async function rejectPasskey(
    reason: RejectionReason | 'not_asked' | 'unknown_passkey',
    { caller, address }: PasskeyRequestContext,
  ): Promise<never> {
    const failure = { address, door: 'api', reason: `passkey_${reason}`, claimed: caller.id }
    await failedAuth.recordGuess(failure, personPrincipal(caller.id))
    throw new CoworkError('passkey_refused', rejectionMessages[reason], {
      hint:
        rejectionHints[reason] ??
        'Retry; if the error persists, remove the passkey and add it again.',
      details: { reason },
    })
  }

  return {
    has,
    steppedUpUntil: stepUpSessions.until,
    /** Returns whether this session confirmed the decision with this digest, and deletes the confirmation. */
    takeConfirmed: stepUpSessions.take,

    async challenge(
      caller: Caller,
      purpose: ChallengePurpose,
      decision?: string,
    ): Promise<Challenge> {
      const person = await getSessionPerson(caller)
      const allow = await store.listIds(db, person.id)
      if (purpose === 'register') assertSteppedUp(caller, allow)
      else if (allow.length === 0)
        throw new CoworkError('not_found', 'You have no passkey.', {
          hint: 'Add a passkey in the console settings.',
        })
      const { challenge, expiresAt } = challenges.create(caller.session, purpose, decision)
      const handle = sha256(`person:${person.id}`).toString('base64url')
      const { rpId } = toExpectedChallenge('webauthn.get', challenge)
      return { challenge, rpId, expiresAt, user: { handle, person }, allow }
    },

    async register(
      input: Registration & { readonly name: string },
      context: PasskeyRequestContext,
    ): Promise<Passkey> {
      const { caller } = context
      const name = normalizeName(input.name)
      const person = await getSessionPerson(caller)
      assertSteppedUp(caller, await store.listIds(db, person.id))
      const asked = challenges.take(caller.session, 'register')
      if (!asked) return rejectPasskey('not_asked', context)
      const outcome = verifyRegistration(
        input,
        toExpectedChallenge('webauthn.create', asked.challenge),
      )
      if ('rejected' in outcome) return rejectPasskey(outcome.rejected, context)
      const passkey: Passkey = {
        id: input.id,
        person: person.id,
        name,
        publicKey: input.publicKey,
        algorithm: input.algorithm,
        signCount: outcome.signCount,
        createdAt: now(),
      }
      await db.transact(async (tx) => {
        if (!(await store.add(tx, passkey)))
          throw new CoworkError('passkey_exists', 'The passkey is already registered.', {
            hint: 'Confirm with this passkey, or add another one.',
          })
        const { algorithm } = passkey
        tx.append(entry('passkey.added', caller, passkey.id, { data: { name, algorithm } }))
      })
      return passkey
    },

    /** Verifies an assertion and returns the end of the confirmation, for settings or for one decision. */
    async assert(
      { id, ...input }: Assertion & { readonly id: string },
      answering: PasskeyRequestContext,
    ): Promise<number> {
      const { caller, address } = answering
      const person = await getSessionPerson(caller)
      const asked = challenges.take(caller.session, 'assert')
      if (!asked) return rejectPasskey('not_asked', answering)
      const passkey = await store.find(db, id)
      if (passkey?.person !== person.id) return rejectPasskey('unknown_passkey', answering)
      const outcome = verifyAssertion(
        passkey,
        input,
        toExpectedChallenge('webauthn.get', asked.challenge),
      )
      const count =
        'rejected' in outcome
          ? outcome
          : await advance(passkey, outcome.signCount, caller, asked.decision)
      if ('rejected' in count) {
        // A valid signature with an old count means that the key was copied: record it in a separate entry.
        if (count.rejected === 'counter_back')
          await db.transact(async (tx) =>
            tx.append(entry('passkey.refused', caller, id, { outcome: 'counter_back' })),
          )
        return rejectPasskey(count.rejected, answering)
      }
      failedAuth.succeeded(address, personPrincipal(person.id))
      return asked.decision === undefined
        ? stepUpSessions.grant(caller.session, id)
        : stepUpSessions.confirm(caller.session, id, asked.decision)
    },

    async list(caller: Caller): Promise<Passkey[]> {
      const all = await store.all(db)
      return all.filter(({ person }) => caller.role === 'owner' || person === caller.id)
    },

    async remove(tx: Tx, id: string, by: ActingCall): Promise<Passkey> {
      const passkey = await store.find(tx, id)
      const isTheirs = by.caller.role === 'owner' || passkey?.person === by.caller.id
      if (!passkey || !isTheirs)
        throw new CoworkError(
          'not_found',
          `Unknown passkey: ${JSON.stringify(id.slice(0, 100))}.`,
          {
            hint: 'Use an id from cowork_list_passkeys.',
          },
        )
      await store.remove(tx, id)
      stepUpSessions.revoke(id)
      const { person, name } = passkey
      tx.append(buildIdentityEntry(by, 'passkey.removed', id, { person, name }))
      return passkey
    },
  }
}

const rejectionMessages: Record<RejectionReason | 'not_asked' | 'unknown_passkey', string> = {
  not_asked: 'No pending passkey challenge, or it has expired.',
  unknown_passkey: 'The passkey is not registered for you.',
  unreadable: 'The passkey response is malformed.',
  wrong_type: 'The passkey response has the wrong type.',
  wrong_challenge: 'Passkey challenge mismatch.',
  wrong_origin: 'The passkey was used on another origin.',
  wrong_rp: 'The passkey belongs to another host.',
  not_present: 'User presence was not confirmed.',
  not_verified: 'The passkey did not verify the user.',
  wrong_id: 'Passkey id mismatch.',
  wrong_key: 'The key type of the passkey is not supported.',
  wrong_signature: 'The passkey signature is invalid.',
  counter_back: 'The passkey counter went back: a copy may be in use.',
}

const rejectionHints: Partial<typeof rejectionMessages> = {
  not_asked: 'Retry and respond within 2 minutes.',
  wrong_origin: 'Open the console with `cowork open`.',
  wrong_rp: 'Open the console with `cowork open`.',
  not_verified: 'Set a PIN or a fingerprint on the passkey, then retry.',
  wrong_key: 'Use a passkey that signs with ES256, EdDSA or RS256.',
  counter_back: 'Remove this passkey and add a new one.',
}
