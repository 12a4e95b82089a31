import { sql as raw } from 'kysely'
import { startsWith } from '#base/db/dialect.ts'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { Stat } from './worker/protocol.ts'

type VersionRow = {
  id: string
  node: string
  path: string
  /** The path of the file when it was replaced. */
  origin: string
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
  type: Stat['type']
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

/** An earlier content of a file, stored by hash, with the change that replaced it (TR3). */
export type Version = Readonly<Omit<VersionRow, 'node'>>

/** A deleted file or folder that can be restored (TR1). */
export type TrashItem = Readonly<Omit<TrashRow, 'node' | 'deleted_at'>> & {
  readonly deletedAt: number
}

/** The path of rows of a trash item. No file has such a path, because file paths are absolute. */
const toTrashPath = (id: string) => `trash:${id}`

const maxBatchSize = 500

export type HistoryStore = ReturnType<typeof createHistoryStore>

/** All SQL for versions, trash items and file authors of this node. */
export function createHistoryStore(dialect: Dialect, node: string) {
  const sql = builder<Tables>(dialect)
  const versions = sql.selectFrom('file_version').selectAll().where('node', '=', node)
  const trash = sql.selectFrom('file_trash').selectAll().where('node', '=', node)
  const made = sql
    .selectFrom('file_made')
    .selectAll()
    .where('node', '=', node)
    .where((eb) => eb.not(startsWith('path', toTrashPath(''))))

  const newestVersions = (path: string) =>
    versions.where('path', '=', path).orderBy('at', 'desc').orderBy('id', 'desc')
  const versionsOfPath = statement((p: { path: string; limit: number }) =>
    newestVersions(p.path).limit(p.limit),
  )
  const version = statement((p: { id: string }) => versions.where('id', '=', p.id))
  const allVersions = query(versions)
  const versionsBeyond = statement((p: { path: string; maxCount: number }) =>
    newestVersions(p.path).limit(maxBatchSize).offset(p.maxCount),
  )
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
  const addTrashItem = statement((p: TrashRow) =>
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
  /** Matches the path and everything below. On Linux a backslash is part of a name. */
  const isAtOrBelow = (path: string) =>
    path.startsWith('/')
      ? raw<boolean>`(path = ${path} or ${startsWith('path', `${path}/`)})`
      : raw<boolean>`(path = ${path} or ${startsWith('path', `${path}/`)} or ${startsWith('path', `${path}\\`)})`
  const movedPath = (to: string, from: string) =>
    raw<string>`${to} || substr(path, length(${from}) + 1)`

  const tables = ['file_made', 'file_version'] as const
  const deleteRows = (tx: Tx, table: (typeof tables)[number], path: string) =>
    tx.run(query(sql.deleteFrom(table).where('node', '=', node).where(isAtOrBelow(path))))

  async function rename(tx: Tx, from: string, to: string): Promise<void> {
    for (const table of tables)
      await tx.run(
        query(
          sql
            .updateTable(table)
            .set({ path: movedPath(to, from) })
            .where('node', '=', node)
            .where(isAtOrBelow(from)),
        ),
      )
  }

  /** Moves the rows of a file, or of everything in a folder, to the new path. */
  async function move(tx: Tx, from: string, to: string): Promise<void> {
    if (from === to) return
    // The authors of earlier files at the target do not apply; their versions are kept.
    await deleteRows(tx, 'file_made', to)
    await rename(tx, from, to)
  }

  return {
    addVersion: (tx: Tx, version: Omit<Version, 'origin'>) => {
      const { id, path, sha256, size, mode, at, by, operation, call } = version
      const row = { id, node, path, origin: path, sha256, size, mode, at, by, operation, call }
      return tx.insert('file_version', [row])
    },
    listVersions: async (reader: Reader, path: string, limit: number) =>
      (await reader.all(versionsOfPath({ path, limit }))).map(toVersion),
    async findVersion(reader: Reader, id: string) {
      const row = await reader.first(version({ id }))
      return row && toVersion(row)
    },
    listAllVersions: async (reader: Reader) => (await reader.all(allVersions)).map(toVersion),
    /** Deletes the versions of a file beyond the limit and returns the hashes of their contents. */
    async deleteVersionsBeyond(tx: Tx, path: string, maxCount: number): Promise<readonly string[]> {
      const surplus = await tx.all(versionsBeyond({ path, maxCount }))
      for (const { id } of surplus) await tx.run(dropVersion({ id }))
      return surplus.map(({ sha256 }) => sha256)
    },
    async findReferenced(
      reader: Reader,
      contents: readonly string[],
    ): Promise<ReadonlySet<string>> {
      const found = new Set<string>()
      for (let at = 0; at < contents.length; at += maxBatchSize) {
        const batch = contents.slice(at, at + maxBatchSize)
        const select = sql.selectFrom('file_version').select('sha256').where('node', '=', node)
        for (const { sha256 } of await reader.all(query(select.where('sha256', 'in', batch))))
          found.add(sha256)
      }
      return found
    },
    deleteVersion: (tx: Tx, id: string) => tx.run(dropVersion({ id })),

    /** Adds a trash item that has no row. The rows of its path stay, because they may belong to another file. */
    addFoundTrashItem: (tx: Tx, { deletedAt, ...item }: TrashItem) =>
      tx.run(addTrashItem({ ...item, node, deleted_at: deletedAt })),
    /** Adds a trash item, unless it exists, and keeps the rows of its path with the item. */
    async keepTrash(tx: Tx, { deletedAt, ...item }: TrashItem): Promise<void> {
      await tx.run(addTrashItem({ ...item, node, deleted_at: deletedAt }))
      await rename(tx, item.path, toTrashPath(item.id))
    },
    /** Moves the rows of a trash item to the restored path. */
    async restoreFromTrash(tx: Tx, id: string, path: string): Promise<void> {
      await move(tx, toTrashPath(id), path)
      await tx.run(dropTrash({ id }))
    },
    /** Lists the newest items first: ids start with the time. */
    listTrashPage: async (reader: Reader, before: string, limit: number) =>
      (await reader.all(trashPage({ before, limit }))).map(toTrashItem),
    async findTrashItem(reader: Reader, id: string) {
      const row = await reader.first(trashed({ id }))
      return row && toTrashItem(row)
    },
    listTrash: async (reader: Reader) => (await reader.all(allTrash)).map(toTrashItem),
    /** Returns the row count, 0 if the item was restored or deleted before. Its versions expire by retention. */
    async deleteTrashItem(tx: Tx, id: string): Promise<number> {
      await deleteRows(tx, 'file_made', toTrashPath(id))
      return tx.run(dropTrash({ id }))
    },

    recordMade: (tx: Tx, path: string, by: string, at: number) =>
      tx.run(keepMade({ path, by, at })),
    listMade: async (reader: Reader) => (await reader.all(allMade)).map(toMade),
    async listNewestMade(reader: Reader, folder: string, limit: number) {
      const inside = made.where(isAtOrBelow(folder)).orderBy('changed_at', 'desc').orderBy('path')
      return (await reader.all(query(inside.limit(limit)))).map(toMade)
    },
    move,
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

function toTrashItem(row: TrashRow): TrashItem {
  const { node: _, deleted_at: deletedAt, ...rest } = row
  return { ...rest, deletedAt }
}

/** A file created or changed through cowork, with its first author (F6). */
const toMade = ({ path, made_by: by, made_at: madeAt, changed_at: changedAt }: MadeRow) => ({
  path,
  by,
  madeAt,
  changedAt,
})
