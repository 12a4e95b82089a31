import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'
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
type AgentSettings = {
  readonly scopes?: readonly string[] | undefined
  readonly selection?: ToolSelection | undefined
}
type StoredCredential = {
  readonly hash: string
  readonly agent: string
  readonly createdAt: number
  readonly expiresAt?: number
}
export type StoredIdentities = {
  readonly agents: readonly StoredAgent[]
  readonly credentials: readonly StoredCredential[]
}

export type IdentityStore = ReturnType<typeof createIdentityStore>

export function createIdentityStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const agents = sql.selectFrom('agent')
  const selectById = (id: string) => agents.selectAll().where('id', '=', id)
  const activeAgents = sql.updateTable('agent').where('revoked_at', 'is', null)
  const first = async (reader: Reader, found: ReturnType<typeof selectById>) => {
    const row = await reader.first(query(found))
    return row && toAgent(row)
  }

  return {
    async read(reader: Reader): Promise<StoredIdentities> {
      const all = await reader.all(query(agents.selectAll().orderBy('id')))
      const credentials = sql.selectFrom('credential').selectAll().orderBy('created_at')
      return {
        agents: all.map(toAgent),
        credentials: (await reader.all(query(credentials))).map((row) => ({
          hash: row.hash,
          agent: row.agent,
          createdAt: row.created_at,
          ...(row.expires_at !== null && { expiresAt: row.expires_at }),
        })),
      }
    },
    async isEmpty(reader: Reader) {
      const count = agents.select((eb) => eb.fn.countAll<number>().as('agents'))
      return Number((await reader.first(query(count)))?.agents) === 0
    },
    find: (reader: Reader, id: string) => first(reader, selectById(id)),
    /** Reads and locks the agent until the transaction ends. */
    lock: (tx: Tx, id: string) =>
      first(tx, dialect === 'postgres' ? selectById(id).forUpdate() : selectById(id)),
    /** Inserts an agent. Returns false if an active agent has this id. */
    async save(tx: Tx, id: string, { scopes, selection }: AgentSettings, at: number) {
      const settings = {
        scopes: scopes ? JSON.stringify(scopes) : null,
        selection: serializeSelection(selection),
        created_at: at,
        revoked_at: null,
      }
      // A revoked agent can be added again under its old id; an active one is never overwritten.
      const saved = sql
        .insertInto('agent')
        .values({ id, ...settings })
        .onConflict((c) =>
          c.column('id').doUpdateSet(settings).where('agent.revoked_at', 'is not', null),
        )
      return (await tx.run(query(saved))) > 0
    },
    async setSelection(tx: Tx, id: string, selection: ToolSelection | undefined) {
      const chosen = activeAgents
        .set({ selection: serializeSelection(selection) })
        .where('id', '=', id)
      return (await tx.run(query(chosen))) > 0
    },
    revoke: async (tx: Tx, id: string, at: number) =>
      (await tx.run(query(activeAgents.set({ revoked_at: at }).where('id', '=', id)))) > 0,
    addCredential(tx: Tx, agent: string, hash: string, at: number) {
      const row = { hash, agent, created_at: at, expires_at: null }
      return tx.run(query(sql.insertInto('credential').values(row)))
    },
    /** Expires all credentials of the agent at this time at the latest. Returns their hashes. */
    async endCredentials(tx: Tx, agent: string, at: number) {
      const ended = sql
        .updateTable('credential')
        .set({ expires_at: at })
        .where('agent', '=', agent)
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]))
      return (await tx.all(query(ended.returning('hash')))).map((row) => row.hash)
    },
  }
}

const serializeSelection = (selection: ToolSelection | undefined): string | null =>
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
