import type { Role } from '#base/caller.ts'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { Invitation, Link, Opened, Person, Session } from './rules.ts'

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

/** The only SQL about people, their sessions and the links that open them. */
export function createPeopleStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const people = query(sql.selectFrom('person').selectAll().orderBy('joined_at').orderBy('id'))
  const person = statement((p: { id: string }) =>
    sql.selectFrom('person').selectAll().where('id', '=', p.id),
  )
  const addPerson = statement((p: { id: string; name: string; role: Role; at: number }) =>
    sql
      .insertInto('person')
      .values({ id: p.id, name: p.name, role: p.role, joined_at: p.at, removed_at: null })
      .onConflict((conflict) => conflict.column('id').doNothing()),
  )
  const setRole = statement((p: { id: string; role: Role }) =>
    sql.updateTable('person').set({ role: p.role }).where('id', '=', p.id),
  )
  const removePerson = statement((p: { id: string; at: number }) =>
    sql.updateTable('person').set({ removed_at: p.at }).where('id', '=', p.id),
  )

  const opened = sql
    .selectFrom('person_session')
    .innerJoin('person', 'person.id', 'person_session.person')
    .select([
      'person_session.id',
      'person',
      'user_agent',
      'created_at',
      'last_seen_at',
      'ended_at',
      'name',
      'role',
      'joined_at',
      'removed_at',
    ])
  const byHash = statement((p: { hash: string }) => opened.where('hash', '=', p.hash))
  const byId = statement((p: { id: string }) => opened.where('person_session.id', '=', p.id))
  const sessions = query(opened.where('ended_at', 'is', null).orderBy('last_seen_at', 'desc'))
  const addSession = statement(
    (p: { hash: string; id: string; person: string; userAgent: string; at: number }) =>
      sql.insertInto('person_session').values({
        hash: p.hash,
        id: p.id,
        person: p.person,
        user_agent: p.userAgent,
        created_at: p.at,
        last_seen_at: p.at,
        ended_at: null,
      }),
  )
  const open = sql.updateTable('person_session').where('ended_at', 'is', null)
  const seen = statement((p: { id: string; at: number }) =>
    open.set({ last_seen_at: p.at }).where('id', '=', p.id).where('last_seen_at', '<', p.at),
  )
  const endSession = statement((p: { id: string; at: number }) =>
    open.set({ ended_at: p.at }).where('id', '=', p.id),
  )
  const endSessions = statement((p: { person: string; at: number }) =>
    open.set({ ended_at: p.at }).where('person', '=', p.person).returning('id'),
  )

  const link = statement((p: { hash: string }) =>
    sql.selectFrom('link').selectAll().where('hash', '=', p.hash),
  )
  const unused = sql.selectFrom('link').selectAll().where('used_at', 'is', null)
  const invitations = statement((p: { now: number }) =>
    unused
      .where('invited_by', 'is not', null)
      .where('expires_at', '>', p.now)
      .orderBy('created_at'),
  )
  const useLink = statement((p: { hash: string; at: number }) =>
    sql
      .updateTable('link')
      .set({ used_at: p.at })
      .where('hash', '=', p.hash)
      .where('used_at', 'is', null),
  )
  const dropLink = statement((p: { hash: string }) =>
    sql.deleteFrom('link').where('hash', '=', p.hash).where('used_at', 'is', null),
  )
  const forgetLinks = statement((p: { before: number }) =>
    sql.deleteFrom('link').where('expires_at', '<', p.before),
  )

  return {
    people: async (reader: Reader) => (await reader.all(people)).map(toPerson),
    async person(reader: Reader, id: string) {
      const row = await reader.first(person({ id }))
      return row && toPerson(row)
    },
    /** False when the id is taken. */
    addPerson: async (tx: Tx, given: { id: string; name: string; role: Role; at: number }) =>
      (await tx.run(addPerson(given))) > 0,
    setRole: (tx: Tx, id: string, role: Role) => tx.run(setRole({ id, role })),
    removePerson: (tx: Tx, id: string, at: number) => tx.run(removePerson({ id, at })),

    async sessionByHash(reader: Reader, hash: string) {
      const row = await reader.first(byHash({ hash }))
      return row && toOpened(row)
    },
    async session(reader: Reader, id: string) {
      const row = await reader.first(byId({ id }))
      return row && toOpened(row)
    },
    /** Those that were not ended; some may have lapsed by themselves. Last used first. */
    sessions: async (reader: Reader) => (await reader.all(sessions)).map(toOpened),
    addSession: (
      tx: Tx,
      given: { hash: string; id: string; person: string; userAgent: string; at: number },
    ) => tx.run(addSession(given)),
    seen: (tx: Tx, id: string, at: number) => tx.run(seen({ id, at })),
    /** False when it has ended before. */
    endSession: async (tx: Tx, id: string, at: number) =>
      (await tx.run(endSession({ id, at }))) > 0,
    endSessions: async (tx: Tx, person: string, at: number) =>
      (await tx.all(endSessions({ person, at }))).map(({ id }) => id),

    async link(tx: Tx, hash: string) {
      const row = await tx.first(link({ hash }))
      return row && toLink(row)
    },
    invitations: async (reader: Reader, now: number) =>
      (await reader.all(invitations({ now }))).map(toLink).filter(isInvitation),
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
    /** False when it was used before: of two who come at once, one is told so. */
    useLink: async (tx: Tx, hash: string, at: number) => (await tx.run(useLink({ hash, at }))) > 0,
    dropLink: (tx: Tx, hash: string) => tx.run(dropLink({ hash })),
    forgetLinks: (tx: Tx, before: number) => tx.run(forgetLinks({ before })),
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

type OpenedRow = Omit<SessionRow, 'hash'> & Omit<PersonRow, 'id'>

function toOpened(row: OpenedRow): Opened {
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
