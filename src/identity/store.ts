import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { SelectionFields } from '#base/selection-fields.ts'
import { toFields, toSelection } from '#base/selection.ts'
import type { ToolSelection } from '#base/selection.ts'

type Tables = {
  agent: {
    id: string
    scopes: string | null
    selection: string | null
    created_at: number
    revoked_at: number | null
  }
  credential: { hash: string; agent: string; created_at: number; expires_at: number | null }
}

export type StoredAgent = {
  readonly id: string
  readonly scopes?: readonly string[]
  readonly selection?: ToolSelection
  readonly createdAt: number
  readonly revokedAt?: number
}
type Given = {
  readonly scopes?: readonly string[] | undefined
  readonly selection?: ToolSelection | undefined
}
type StoredCredential = {
  readonly hash: string
  readonly agent: string
  readonly createdAt: number
  readonly expiresAt?: number
}
export type Stored = {
  readonly agents: readonly StoredAgent[]
  readonly credentials: readonly StoredCredential[]
}

export type IdentityStore = ReturnType<typeof createIdentityStore>

/** The only SQL about agents and their credentials. */
export function createIdentityStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const agents = query(sql.selectFrom('agent').selectAll().orderBy('id'))
  const credentials = query(sql.selectFrom('credential').selectAll().orderBy('created_at'))
  const count = query(sql.selectFrom('agent').select((eb) => eb.fn.countAll<number>().as('agents')))
  const ofId = (p: { id: string }) => sql.selectFrom('agent').selectAll().where('id', '=', p.id)
  const find = statement(ofId)
  const lock = statement((p: { id: string }) =>
    dialect === 'postgres' ? ofId(p).forUpdate() : ofId(p),
  )
  // A revoked agent may come back under its old name; a living one is never overwritten.
  const save = statement((p: Omit<Tables['agent'], 'revoked_at'>) =>
    sql
      .insertInto('agent')
      .values({
        id: p.id,
        scopes: p.scopes,
        selection: p.selection,
        created_at: p.created_at,
        revoked_at: null,
      })
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet((eb) => ({
            scopes: eb.ref('excluded.scopes'),
            selection: eb.ref('excluded.selection'),
            created_at: eb.ref('excluded.created_at'),
            revoked_at: null,
          }))
          .where('agent.revoked_at', 'is not', null),
      ),
  )
  const living = sql.updateTable('agent').where('revoked_at', 'is', null)
  const choose = statement((p: { id: string; selection: string | null }) =>
    living.set({ selection: p.selection }).where('id', '=', p.id),
  )
  const revoke = statement((p: { id: string; at: number }) =>
    living.set({ revoked_at: p.at }).where('id', '=', p.id),
  )
  const give = statement((p: { hash: string; agent: string; at: number }) =>
    sql
      .insertInto('credential')
      .values({ hash: p.hash, agent: p.agent, created_at: p.at, expires_at: null }),
  )
  const end = statement((p: { agent: string; at: number }) =>
    sql
      .updateTable('credential')
      .set({ expires_at: p.at })
      .where('agent', '=', p.agent)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.at)]))
      .returning('hash'),
  )

  return {
    async read(reader: Reader): Promise<Stored> {
      return {
        agents: (await reader.all(agents)).map(toAgent),
        credentials: (await reader.all(credentials)).map((row) => ({
          hash: row.hash,
          agent: row.agent,
          createdAt: row.created_at,
          ...(row.expires_at !== null && { expiresAt: row.expires_at }),
        })),
      }
    },
    isEmpty: async (reader: Reader) => Number((await reader.first(count))?.agents) === 0,
    async find(reader: Reader, id: string) {
      const row = await reader.first(find({ id }))
      return row && toAgent(row)
    },
    /** Reads the agent and lets no other daemon change it until the transaction ends. */
    async lock(tx: Tx, id: string) {
      const row = await tx.first(lock({ id }))
      return row && toAgent(row)
    },
    /** False when a living agent has this id already. */
    async save(tx: Tx, id: string, { scopes, selection }: Given, at: number) {
      const row = {
        id,
        scopes: scopes ? JSON.stringify(scopes) : null,
        selection: textOf(selection),
        created_at: at,
      }
      return (await tx.run(save(row))) > 0
    },
    /** False when there is no living agent with this id. */
    choose: async (tx: Tx, id: string, selection: ToolSelection | undefined) =>
      (await tx.run(choose({ id, selection: textOf(selection) }))) > 0,
    /** False when there is no living agent with this id. */
    revoke: async (tx: Tx, id: string, at: number) => (await tx.run(revoke({ id, at }))) > 0,
    give: (tx: Tx, agent: string, hash: string, at: number) => tx.run(give({ agent, hash, at })),
    /** Whatever the agent holds stops working at that time at the latest; gives the hashes. */
    end: async (tx: Tx, agent: string, at: number) =>
      (await tx.all(end({ agent, at }))).map((row) => row.hash),
  }
}

const textOf = (selection: ToolSelection | undefined): string | null =>
  selection ? JSON.stringify(toFields(selection)) : null

function toAgent(row: Tables['agent']): StoredAgent {
  const selection =
    row.selection === null ? undefined : toSelection(JSON.parse(row.selection) as SelectionFields)
  return {
    id: row.id,
    ...(row.scopes !== null && { scopes: JSON.parse(row.scopes) as string[] }),
    ...(selection && { selection }),
    createdAt: row.created_at,
    ...(row.revoked_at !== null && { revokedAt: row.revoked_at }),
  }
}
