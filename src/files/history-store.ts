import { sql as raw } from 'kysely'
import { startsWith } from '#base/db/dialect.ts'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { Stat } from './worker/protocol.ts'

type VersionRow = {
  id: string
  node: string
  path: string
  /** Where the file lay when it was replaced, wherever it went since. */
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

/** An earlier content of a file: kept under its hash, and why it is not the present one (TR3). */
export type Version = Readonly<Omit<VersionRow, 'node'>>

/** A deleted file or folder that can still be had back (TR1). */
export type TrashItem = Readonly<Omit<TrashRow, 'node' | 'deleted_at'>> & {
  readonly deletedAt: number
}

/** Stands for the path of what lies in the trash. No file has such a path: theirs begin at the root of a disk. */
const inTrash = (id: string) => `trash:${id}`

const mostAtOnce = 500

export type HistoryStore = ReturnType<typeof createHistoryStore>

/** The only SQL about earlier contents, deleted files and who made what, all of this node. */
export function createHistoryStore(dialect: Dialect, node: string) {
  const sql = builder<Tables>(dialect)
  const versions = sql.selectFrom('file_version').selectAll().where('node', '=', node)
  const trash = sql.selectFrom('file_trash').selectAll().where('node', '=', node)
  const made = sql
    .selectFrom('file_made')
    .selectAll()
    .where('node', '=', node)
    .where((eb) => eb.not(startsWith('path', inTrash(''))))

  const newestOf = (path: string) =>
    versions.where('path', '=', path).orderBy('at', 'desc').orderBy('id', 'desc')
  const versionsOf = statement((p: { path: string; limit: number }) =>
    newestOf(p.path).limit(p.limit),
  )
  const version = statement((p: { id: string }) => versions.where('id', '=', p.id))
  const allVersions = query(versions)
  const beyond = statement((p: { path: string; most: number }) =>
    newestOf(p.path).limit(mostAtOnce).offset(p.most),
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
  /** The path itself and all below it. On Linux a backslash is a letter of a name. */
  const among = (path: string) =>
    path.startsWith('/')
      ? raw<boolean>`(path = ${path} or ${startsWith('path', `${path}/`)})`
      : raw<boolean>`(path = ${path} or ${startsWith('path', `${path}/`)} or ${startsWith('path', `${path}\\`)})`
  const moved = (to: string, from: string) =>
    raw<string>`${to} || substr(path, length(${from}) + 1)`

  const tables = ['file_made', 'file_version'] as const
  const forget = (tx: Tx, table: (typeof tables)[number], path: string) =>
    tx.run(query(sql.deleteFrom(table).where('node', '=', node).where(among(path))))

  async function rename(tx: Tx, from: string, to: string): Promise<void> {
    for (const table of tables)
      await tx.run(
        query(
          sql
            .updateTable(table)
            .set({ path: moved(to, from) })
            .where('node', '=', node)
            .where(among(from)),
        ),
      )
  }

  /** What is known of a file, or of all in a folder, goes where it goes. */
  async function move(tx: Tx, from: string, to: string): Promise<void> {
    if (from === to) return
    // Who made what was once there is not about these; its versions are still wanted by whoever lost it.
    await forget(tx, 'file_made', to)
    await rename(tx, from, to)
  }

  return {
    keepVersion: (tx: Tx, version: Omit<Version, 'origin'>) => {
      const { id, path, sha256, size, mode, at, by, operation, call } = version
      const row = { id, node, path, origin: path, sha256, size, mode, at, by, operation, call }
      return tx.insert('file_version', [row])
    },
    versionsOf: async (reader: Reader, path: string, limit: number) =>
      (await reader.all(versionsOf({ path, limit }))).map(toVersion),
    async version(reader: Reader, id: string) {
      const row = await reader.first(version({ id }))
      return row && toVersion(row)
    },
    versions: async (reader: Reader) => (await reader.all(allVersions)).map(toVersion),
    /** Of one file no more than so many are kept: drops those beyond, and gives their contents. */
    async dropBeyond(tx: Tx, path: string, most: number): Promise<readonly string[]> {
      const over = await tx.all(beyond({ path, most }))
      for (const { id } of over) await tx.run(dropVersion({ id }))
      return over.map(({ sha256 }) => sha256)
    },
    async named(reader: Reader, contents: readonly string[]): Promise<ReadonlySet<string>> {
      const found = new Set<string>()
      for (let at = 0; at < contents.length; at += mostAtOnce) {
        const some = contents.slice(at, at + mostAtOnce)
        const naming = sql.selectFrom('file_version').select('sha256').where('node', '=', node)
        for (const { sha256 } of await reader.all(query(naming.where('sha256', 'in', some))))
          found.add(sha256)
      }
      return found
    },
    dropVersion: (tx: Tx, id: string) => tx.run(dropVersion({ id })),

    /** One that lies there without a row. What is known under its path by now may be of another file. */
    keepFound: (tx: Tx, { deletedAt, ...item }: TrashItem) =>
      tx.run(keepTrash({ ...item, node, deleted_at: deletedAt })),
    /** Found there already or not: what is known of it waits with it, since another file may come to its place. */
    async keepTrash(tx: Tx, { deletedAt, ...item }: TrashItem): Promise<void> {
      await tx.run(keepTrash({ ...item, node, deleted_at: deletedAt }))
      await rename(tx, item.path, inTrash(item.id))
    },
    /** What was known of it is known again where it lies now. */
    async takeFromTrash(tx: Tx, id: string, path: string): Promise<void> {
      await move(tx, inTrash(id), path)
      await tx.run(dropTrash({ id }))
    },
    /** Newest first; ids open with the time. */
    trashPage: async (reader: Reader, before: string, limit: number) =>
      (await reader.all(trashPage({ before, limit }))).map(toTrashed),
    async trashed(reader: Reader, id: string) {
      const row = await reader.first(trashed({ id }))
      return row && toTrashed(row)
    },
    trash: async (reader: Reader) => (await reader.all(allTrash)).map(toTrashed),
    /** Gives the number of rows: 0 for one that somebody else has taken. Its versions go when their time is over. */
    async dropTrash(tx: Tx, id: string): Promise<number> {
      await forget(tx, 'file_made', inTrash(id))
      return tx.run(dropTrash({ id }))
    },

    keepMade: (tx: Tx, path: string, by: string, at: number) => tx.run(keepMade({ path, by, at })),
    made: async (reader: Reader) => (await reader.all(allMade)).map(toMade),
    async newest(reader: Reader, folder: string, limit: number) {
      const inside = made.where(among(folder)).orderBy('changed_at', 'desc').orderBy('path')
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

function toTrashed(row: TrashRow): TrashItem {
  const { node: _, deleted_at: deletedAt, ...rest } = row
  return { ...rest, deletedAt }
}

/** A file that was made or changed through cowork, and by whom first (F6). */
const toMade = ({ path, made_by: by, made_at: madeAt, changed_at: changedAt }: MadeRow) => ({
  path,
  by,
  madeAt,
  changedAt,
})
