import { sql as raw } from 'kysely'
import { startsWith } from '#base/db/dialect.ts'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { KeptVersion } from './rules/retention.ts'

type VersionRow = {
  id: string
  node: string
  path: string
  sha256: string
  size: number
  mode: number
  at: number
  by: string
  operation: string
  call: string
}
type TrashRow = {
  id: string
  node: string
  path: string
  type: string
  size: number
  sha256: string | null
  by: string
  call: string
  deleted_at: number
}
type MadeRow = {
  node: string
  path: string
  made_by: string
  made_at: number
  changed_at: number
}
type Tables = { file_version: VersionRow; file_trash: TrashRow; file_made: MadeRow }

/** An earlier content of a file: kept under its hash, and why it is not the present one (TR3). */
export type Version = KeptVersion & {
  readonly mode: number
  /** Who replaced it, by which tool, in which call. */
  readonly by: string
  readonly operation: string
  readonly call: string
}

/** A deleted file or folder that can still be had back (TR1). */
export type Trashed = {
  readonly id: string
  readonly path: string
  readonly type: 'file' | 'folder' | 'link' | 'other'
  readonly size: number
  readonly sha256: string | null
  readonly by: string
  readonly call: string
  readonly deletedAt: number
}

/** A file that was made or changed through cowork, and by whom first (F6). */
type Made = {
  readonly path: string
  readonly by: string
  readonly madeAt: number
  readonly changedAt: number
}

export type HistoryStore = ReturnType<typeof createHistoryStore>

/** The only SQL about earlier contents, deleted files and who made what, all of this node. */
export function createHistoryStore(dialect: Dialect, node: string) {
  const sql = builder<Tables>(dialect)
  const versions = sql.selectFrom('file_version').selectAll().where('node', '=', node)
  const trash = sql.selectFrom('file_trash').selectAll().where('node', '=', node)
  const made = sql.selectFrom('file_made').selectAll().where('node', '=', node)

  const versionsOf = statement((p: { path: string; limit: number }) =>
    versions.where('path', '=', p.path).orderBy('at', 'desc').orderBy('id', 'desc').limit(p.limit),
  )
  const version = statement((p: { id: string }) => versions.where('id', '=', p.id))
  const allVersions = query(versions)
  const dropVersion = statement((p: { id: string }) =>
    sql.deleteFrom('file_version').where('node', '=', node).where('id', '=', p.id),
  )
  const trashPage = statement((p: { before: string; limit: number }) =>
    trash.where('id', '<', p.before).orderBy('id', 'desc').limit(p.limit),
  )
  const trashed = statement((p: { id: string }) => trash.where('id', '=', p.id))
  const allTrash = query(trash)
  const dropTrash = statement((p: { id: string }) =>
    sql.deleteFrom('file_trash').where('node', '=', node).where('id', '=', p.id),
  )
  const keepTrash = statement((p: TrashRow) =>
    sql
      .insertInto('file_trash')
      .values(trashColumns(p))
      .onConflict((c) => c.column('id').doNothing()),
  )
  const keepMade = statement((p: { path: string; by: string; at: number }) =>
    sql
      .insertInto('file_made')
      .values({ node, path: p.path, made_by: p.by, made_at: p.at, changed_at: p.at })
      .onConflict((c) => c.columns(['node', 'path']).doUpdateSet({ changed_at: p.at })),
  )
  const allMade = query(made.orderBy('path'))
  const newest = statement((p: { limit: number }) =>
    made.orderBy('changed_at', 'desc').orderBy('path').limit(p.limit),
  )
  /** The path itself and all below it. */
  const among = (path: string) =>
    raw<boolean>`(path = ${path} or ${startsWith('path', `${path}/`)})`
  const moved = (to: string, from: string) =>
    raw<string>`${to} || substr(path, length(${from}) + 1)`

  return {
    keepVersion: (tx: Tx, { id, path, sha256, size, mode, at, by, operation, call }: Version) =>
      tx.insert('file_version', [{ id, node, path, sha256, size, mode, at, by, operation, call }]),
    versionsOf: async (reader: Reader, path: string, limit: number) =>
      (await reader.all(versionsOf({ path, limit }))).map(toVersion),
    async version(reader: Reader, id: string) {
      const row = await reader.first(version({ id }))
      return row && toVersion(row)
    },
    versions: async (reader: Reader) => (await reader.all(allVersions)).map(toVersion),
    dropVersion: (tx: Tx, id: string) => tx.run(dropVersion({ id })),

    /** Nothing where it is known already, so that what was found after a crash can be added blindly. */
    keepTrash: (tx: Tx, { deletedAt, ...item }: Trashed) =>
      tx.run(keepTrash({ ...item, node, deleted_at: deletedAt })),
    /** Newest first; ids open with the time. */
    trashPage: async (reader: Reader, before: string, limit: number) =>
      (await reader.all(trashPage({ before, limit }))).map(toTrashed),
    async trashed(reader: Reader, id: string) {
      const row = await reader.first(trashed({ id }))
      return row && toTrashed(row)
    },
    trash: async (reader: Reader) => (await reader.all(allTrash)).map(toTrashed),
    /** Gives the number of rows: 0 for one that somebody else has taken. */
    dropTrash: (tx: Tx, id: string) => tx.run(dropTrash({ id })),

    keepMade: (tx: Tx, path: string, by: string, at: number) => tx.run(keepMade({ path, by, at })),
    made: async (reader: Reader) => (await reader.all(allMade)).map(toMade),
    newest: async (reader: Reader, limit: number) =>
      (await reader.all(newest({ limit }))).map(toMade),
    /** Deleted, with all that is below. */
    dropMade: (tx: Tx, path: string) =>
      tx.run(query(sql.deleteFrom('file_made').where('node', '=', node).where(among(path)))),
    /** What is known of a file, or of all in a folder, goes where it goes. */
    async move(tx: Tx, from: string, to: string): Promise<void> {
      // What was known of files that were once there is not about these.
      await tx.run(query(sql.deleteFrom('file_made').where('node', '=', node).where(among(to))))
      for (const table of ['file_made', 'file_version'] as const)
        await tx.run(
          query(
            sql
              .updateTable(table)
              .set({ path: moved(to, from) })
              .where('node', '=', node)
              .where(among(from)),
          ),
        )
    },
  }
}

const trashColumns = (p: TrashRow): TrashRow => ({
  id: p.id,
  node: p.node,
  path: p.path,
  type: p.type,
  size: p.size,
  sha256: p.sha256,
  by: p.by,
  call: p.call,
  deleted_at: p.deleted_at,
})

function toVersion(row: VersionRow): Version {
  const { node: _, ...version } = row
  return version
}

function toTrashed(row: TrashRow): Trashed {
  const { node: _, deleted_at, type, ...rest } = row
  return { ...rest, type: type as Trashed['type'], deletedAt: deleted_at }
}

const toMade = ({ path, made_by, made_at, changed_at }: MadeRow): Made => ({
  path,
  by: made_by,
  madeAt: made_at,
  changedAt: changed_at,
})
