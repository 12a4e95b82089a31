import type { Role } from '#base/caller.ts'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'
import { splitWords } from '#base/words.ts'
import type { Invitation, Link, SessionWithPerson, Person, Session } from './rules.ts'

type PersonRow = {
  id: string
  name: string
  role: Role
  joined_at: number
  removed_at: number | null
}
type SessionRow = {
  hash: string
  id: string
  person: string
  user_agent: string
  created_at: number
  last_seen_at: number
  ended_at: number | null
}
type LinkRow = {
  hash: string
  person: string | null
  name: string | null
  role: Role | null
  invited_by: string | null
  created_at: number
  expires_at: number
  used_at: number | null
}
type Tables = { person: PersonRow; person_session: SessionRow; link: LinkRow }

export type PeopleStore = ReturnType<typeof createPeopleStore>

export function createPeopleStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const people = sql.selectFrom('person').selectAll()
  const changePerson = sql.updateTable('person')
  const sessionsWithPerson = sql
    .selectFrom('person_session')
    .innerJoin('person', 'person.id', 'person_session.person')
    .select('person_session.id')
    .select(splitWords('person user_agent created_at last_seen_at ended_at'))
    .select(splitWords('name role joined_at removed_at'))
  const first = async (reader: Reader, found: typeof sessionsWithPerson) => {
    const row = await reader.first(query(found))
    return row && toSessionWithPerson(row)
  }
  const activeSessions = sql.updateTable('person_session').where('ended_at', 'is', null)
  const links = sql.selectFrom('link').selectAll()

  return {
    people: async (reader: Reader) =>
      (await reader.all(query(people.orderBy('joined_at').orderBy('id')))).map(toPerson),
    async person(reader: Reader, id: string) {
      const row = await reader.first(query(people.where('id', '=', id)))
      return row && toPerson(row)
    },
    /** Returns false if the id exists. */
    async addPerson(
      tx: Tx,
      { at, ...input }: { id: string; name: string; role: Role; at: number },
    ) {
      const row = { ...input, joined_at: at, removed_at: null }
      const added = sql.insertInto('person').values(row)
      return (await tx.run(query(added.onConflict((c) => c.column('id').doNothing())))) > 0
    },
    setRole: (tx: Tx, id: string, role: Role) =>
      tx.run(query(changePerson.set({ role }).where('id', '=', id))),
    removePerson: (tx: Tx, id: string, at: number) =>
      tx.run(query(changePerson.set({ removed_at: at }).where('id', '=', id))),

    sessionByHash: (reader: Reader, hash: string) =>
      first(reader, sessionsWithPerson.where('hash', '=', hash)),
    session: (reader: Reader, id: string) =>
      first(reader, sessionsWithPerson.where('person_session.id', '=', id)),
    /** Lists sessions that were not ended, last used first; some may have expired. */
    async sessions(reader: Reader) {
      const found = sessionsWithPerson.where('ended_at', 'is', null).orderBy('last_seen_at', 'desc')
      return (await reader.all(query(found))).map(toSessionWithPerson)
    },
    addSession(
      tx: Tx,
      input: { hash: string; id: string; person: string; userAgent: string; at: number },
    ) {
      const { userAgent, at, ...ids } = input
      const times = { created_at: at, last_seen_at: at, ended_at: null }
      const row = { ...ids, user_agent: userAgent, ...times }
      return tx.run(query(sql.insertInto('person_session').values(row)))
    },
    markSeen(tx: Tx, id: string, at: number) {
      const seen = activeSessions.set({ last_seen_at: at }).where('id', '=', id)
      return tx.run(query(seen.where('last_seen_at', '<', at)))
    },
    endSession: async (tx: Tx, id: string, at: number) =>
      (await tx.run(query(activeSessions.set({ ended_at: at }).where('id', '=', id)))) > 0,
    async endSessions(tx: Tx, person: string, at: number) {
      const ended = activeSessions
        .set({ ended_at: at })
        .where('person', '=', person)
        .returning('id')
      return (await tx.all(query(ended))).map(({ id }) => id)
    },

    async link(tx: Tx, hash: string) {
      const row = await tx.first(query(links.where('hash', '=', hash)))
      return row && toLink(row)
    },
    async invitations(reader: Reader, now: number) {
      const invited = links.where('invited_by', 'is not', null).where('used_at', 'is', null)
      const live = invited.where('expires_at', '>', now).orderBy('created_at')
      return (await reader.all(query(live))).map(toLink).filter(isInvitation)
    },
    addLink: (tx: Tx, { hash, createdAt, expiresAt, ...purpose }: Link) =>
      tx.insert('link', [
        {
          hash,
          ...(purpose.kind === 'open'
            ? { person: purpose.person, name: null, role: null, invited_by: null }
            : {
                person: null,
                name: purpose.name,
                role: purpose.role,
                invited_by: purpose.invitedBy,
              }),
          created_at: createdAt,
          expires_at: expiresAt,
          used_at: null,
        },
      ]),
    /** Returns false if the link was used already, also by a concurrent request. */
    async useLink(tx: Tx, hash: string, at: number) {
      const used = sql.updateTable('link').set({ used_at: at }).where('hash', '=', hash)
      return (await tx.run(query(used.where('used_at', 'is', null)))) > 0
    },
    deleteUnusedLink(tx: Tx, hash: string) {
      const link = sql.deleteFrom('link').where('hash', '=', hash)
      return tx.run(query(link.where('used_at', 'is', null)))
    },
    deleteExpiredLinks: (tx: Tx, before: number) =>
      tx.run(query(sql.deleteFrom('link').where('expires_at', '<', before))),
  }
}

const isInvitation = (link: Link): link is Invitation => link.kind === 'invite'

const toPerson = (row: PersonRow): Person => ({
  id: row.id,
  name: row.name,
  role: row.role,
  joinedAt: row.joined_at,
  ...(row.removed_at !== null && { removedAt: row.removed_at }),
})

type SessionWithPersonRow = Omit<SessionRow, 'hash'> & Omit<PersonRow, 'id'>

function toSessionWithPerson(row: SessionWithPersonRow): SessionWithPerson {
  const session: Session = {
    id: row.id,
    person: row.person,
    userAgent: row.user_agent,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
  }
  return { session, person: toPerson({ ...row, id: row.person }) }
}

function toLink(row: LinkRow): Link {
  const common = {
    hash: row.hash,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...(row.used_at !== null && { usedAt: row.used_at }),
  }
  const { name, role, invited_by: invitedBy } = row
  return name !== null && role !== null && invitedBy !== null
    ? { ...common, kind: 'invite', name, role, invitedBy }
    : { ...common, kind: 'open', person: row.person ?? '' }
}
