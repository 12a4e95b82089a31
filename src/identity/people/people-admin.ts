import type { Role } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Db, Reader, Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { ownerId } from '../credentials.ts'
import { buildIdentityEntry } from '../entries.ts'
import type { ActingCall } from '../entries.ts'
import { normalizeName, assertNotReserved } from '../ids.ts'
import { hashPrefix } from '../token.ts'
import type { CreatedLink, CreateLink } from './links.ts'
import { canDecide, isActive, isSessionActive } from './rules.ts'
import type { Invitation, Person } from './rules.ts'
import { sessionEndedEntry } from './sessions.ts'
import type { PeopleStore } from './store.ts'

export type PersonWithSessions = Person & {
  readonly lastSeenAt?: number
  readonly sessions: number
}

type Deps = {
  readonly db: Db
  readonly store: PeopleStore
  readonly makeLink: CreateLink
  readonly now: Clock
  readonly removePasskeys: (tx: Tx, person: string) => Promise<unknown>
}

/** Manages people and their roles, for owners (I6). */
export function createPeopleAdmin({ db, store, makeLink, now, removePasskeys }: Deps) {
  async function getActivePerson(tx: Tx, id: string): Promise<Person> {
    const person = await store.person(tx, id)
    if (person && isActive(person)) return person
    throw new CoworkError('not_found', `Unknown person: ${JSON.stringify(id)}.`, {
      hint: 'Use an id from cowork_list_people.',
    })
  }

  /** Keeps the first owner, whose token is in the state directory (I10). */
  function assertNotOwner(person: Person) {
    if (person.id === ownerId)
      throw new CoworkError('last_owner', `${person.name} must stay owner.`, {
        hint: 'Add other owners instead: the token in the state directory belongs to this person.',
      })
  }

  return {
    /**
     * Returns whether earlier decisions of this person still count: not removed and not a viewer now. True for an unknown
     * id, which was used while authentication was off (A3).
     */
    async canStillDecide(reader: Reader, id: string): Promise<boolean> {
      const person = await store.person(reader, id)
      return !person || canDecide(person)
    },

    async list(): Promise<{ people: PersonWithSessions[]; invitations: Invitation[] }> {
      const at = now()
      const open = (await store.sessions(db)).filter((opened) => isSessionActive(opened, at))
      const people = (await store.people(db)).map((person) => {
        const own = open.filter(({ session }) => session.person === person.id)
        const [last] = own
        return {
          ...person,
          sessions: own.length,
          ...(last && { lastSeenAt: last.session.lastSeenAt }),
        }
      })
      return { people, invitations: await store.invitations(db, at) }
    },

    async invite(
      tx: Tx,
      input: { name: string; role: Role },
      by: ActingCall,
    ): Promise<CreatedLink & { id: string; name: string }> {
      const name = normalizeName(input.name)
      assertNotReserved(name)
      const { role } = input
      const made = await makeLink(tx, { kind: 'invite', name, role, invitedBy: by.caller.id })
      const id = hashPrefix(made.hash)
      tx.append(
        buildIdentityEntry(by, 'person.invited', id, { name, role, expires_at: made.expiresAt }),
      )
      return { ...made, id, name }
    },

    async withdraw(tx: Tx, id: string, by: ActingCall): Promise<Invitation> {
      const open = await store.invitations(tx, now())
      const invitation = open.find(({ hash }) => hashPrefix(hash) === id)
      if (!invitation || (await store.deleteUnusedLink(tx, invitation.hash)) === 0)
        throw new CoworkError('not_found', `Unknown or used invitation: ${JSON.stringify(id)}.`, {
          hint: 'Use an id from cowork_list_people.',
        })
      tx.append(buildIdentityEntry(by, 'invitation.withdrawn', id, { name: invitation.name }))
      return invitation
    },

    async setRole(tx: Tx, input: { id: string; role: Role }, by: ActingCall): Promise<Person> {
      const person = await getActivePerson(tx, input.id)
      const { id, role: from } = person
      const to = input.role
      if (from === to) return person
      assertNotOwner(person)
      await store.setRole(tx, id, to)
      tx.append(buildIdentityEntry(by, 'role.changed', id, { from, to }))
      return { ...person, role: to }
    },

    /** Removes a person with all sessions and passkeys; the name stays in the ledger. */
    async remove(tx: Tx, id: string, by: ActingCall): Promise<Person & { removedAt: number }> {
      const person = await getActivePerson(tx, id)
      assertNotOwner(person)
      const removedAt = now()
      await store.removePerson(tx, id, removedAt)
      const sessions = await store.endSessions(tx, id, removedAt)
      await removePasskeys(tx, id)
      tx.append(
        buildIdentityEntry(by, 'person.removed', id, { name: person.name, role: person.role }),
      )
      for (const session of sessions)
        tx.append(sessionEndedEntry({ id: session, person: id }, 'person_removed', by))
      return { ...person, removedAt }
    },
  }
}
