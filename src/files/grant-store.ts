import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { Grant } from './model.ts'
import type { Inode } from './worker/protocol.ts'

export type GrantRow = {
  id: string
  agent: string
  node: string
  path: string
  kind: Grant['kind']
  dev: string
  ino: string
  born: string | null
  permission: Grant['permission']
  scope: Grant['scope']
  session: string | null
  hard_links: number
  granted_at: number
  granted_by: Grant['grantedBy']
  by: string
  approval: string | null
  expires_at: number | null
  last_accessed: number | null
  access_count: number
  revoked_at: number | null
  revoked_by: string | null
}
type Tables = { file_grant: GrantRow }

export type GrantStore = ReturnType<typeof createGrantStore>

/** All SQL for grants. */
export function createGrantStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const unrevoked = sql
    .selectFrom('file_grant')
    .selectAll()
    .where('revoked_at', 'is', null)
    .orderBy('id')
  const onAllNodes = query(unrevoked)
  const onNode = statement((p: { node: string }) => unrevoked.where('node', '=', p.node))
  const byId = statement((p: { id: string }) =>
    sql.selectFrom('file_grant').selectAll().where('id', '=', p.id),
  )
  const blocking = statement((p: { node: string; agent: string }) =>
    sql
      .selectFrom('file_grant')
      .selectAll()
      .where('node', '=', p.node)
      .where('agent', 'in', [p.agent, '*'])
      .where('permission', 'in', ['deny', 'write']),
  )
  const ids = statement((p: { node: string }) =>
    sql.selectFrom('file_grant').select('id').where('node', '=', p.node),
  )
  const end = statement((p: { id: string; at: number; by: string }) =>
    sql
      .updateTable('file_grant')
      .set({ revoked_at: p.at, revoked_by: p.by })
      .where('id', '=', p.id)
      .where('revoked_at', 'is', null)
      .returningAll(),
  )
  const repin = statement((p: Required<Inode> & { id: string; oldDev: string; oldIno: string }) =>
    sql
      .updateTable('file_grant')
      .set({ dev: p.dev, ino: p.ino, born: p.born })
      .where('id', '=', p.id)
      .where('dev', '=', p.oldDev)
      .where('ino', '=', p.oldIno)
      .where('revoked_at', 'is', null)
      .returningAll(),
  )
  const use = statement((p: { id: string; count: number; at: number }) =>
    sql
      .updateTable('file_grant')
      .set((eb) => ({
        last_accessed: p.at,
        access_count: eb('access_count', '+', eb.cast<number>(eb.val(p.count), 'bigint')),
      }))
      .where('id', '=', p.id),
  )

  return {
    /** Lists grants that are not revoked, expired ones included. */
    listUnrevoked: async (reader: Reader, node?: string): Promise<Grant[]> =>
      (await reader.all(node === undefined ? onAllNodes : onNode({ node }))).map(toGrant),
    async find(reader: Reader, id: string): Promise<Grant | undefined> {
      const row = await reader.first(byId({ id }))
      return row && toGrant(row)
    },
    /** Lists all grants that ever blocked this agent from reading something on this node. */
    listBlocking: async (reader: Reader, node: string, agent: string): Promise<Grant[]> =>
      (await reader.all(blocking({ node, agent }))).map(toGrant),
    listIds: async (reader: Reader, node: string): Promise<Set<string>> =>
      new Set((await reader.all(ids({ node }))).map(({ id }) => id)),
    add: (tx: Tx, grant: Grant) => tx.insert('file_grant', [toRow(grant)]),
    /** Returns the updated row, or undefined if the grant had ended before. */
    end: (tx: Tx, id: string, at: number, by: string) => tx.first(end({ id, at, by })),
    /** Returns the updated row, or undefined if the grant was pinned to another file or has ended. */
    async repin(tx: Tx, id: string, { dev: oldDev, ino: oldIno }: Inode, to: Inode) {
      const { dev, ino, born = null } = to
      return tx.first(repin({ id, dev, ino, born, oldDev, oldIno }))
    },
    addUses: (tx: Tx, id: string, count: number, at: number) => tx.run(use({ id, count, at })),
  }
}

export const toRow = (grant: Grant): GrantRow => ({
  id: grant.id,
  agent: grant.agent,
  node: grant.node,
  path: grant.path,
  kind: grant.kind,
  dev: grant.dev,
  ino: grant.ino,
  born: grant.born,
  permission: grant.permission,
  scope: grant.scope,
  session: grant.session,
  hard_links: grant.hardLinks ? 1 : 0,
  granted_at: grant.grantedAt,
  granted_by: grant.grantedBy,
  by: grant.by,
  approval: grant.approval,
  expires_at: grant.expiresAt,
  last_accessed: grant.lastAccessed,
  access_count: grant.accessCount,
  revoked_at: grant.revokedAt,
  revoked_by: grant.revokedBy,
})

const toGrant = (row: GrantRow): Grant => ({
  id: row.id,
  agent: row.agent,
  node: row.node,
  path: row.path,
  kind: row.kind,
  dev: row.dev,
  ino: row.ino,
  born: row.born,
  permission: row.permission,
  scope: row.scope,
  session: row.session,
  hardLinks: row.hard_links === 1,
  grantedAt: row.granted_at,
  grantedBy: row.granted_by,
  by: row.by,
  approval: row.approval,
  expiresAt: row.expires_at,
  lastAccessed: row.last_accessed,
  accessCount: row.access_count,
  revokedAt: row.revoked_at,
  revokedBy: row.revoked_by,
})
