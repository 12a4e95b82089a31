import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'

/** `version` identifies the content and can recur; `number` counts the activations from 0. */
export type VersionRow = {
  number: number
  version: string
  source: string
  by: string
  note: string
  at: number
  body: string
  /** Digest of cowork.yaml at that time. While the file stays the same, later saved versions stay active. */
  file: string
}

export function createVersionStore(dialect: Dialect) {
  const sql = builder<{ policy_version: VersionRow }>(dialect)
  const first = sql.selectFrom('policy_version').select('number').where('number', '=', 0)
  const lock = query(dialect === 'postgres' ? first.forUpdate() : first)
  const newestFirst = sql.selectFrom('policy_version').orderBy('number', 'desc')
  const newest = query(newestFirst.selectAll().limit(1))
  const columns = ['number', 'version', 'source', 'by', 'note', 'at'] as const

  return {
    newest: (reader: Reader) => reader.first(newest),
    /** Locks the newest row before an insert: a concurrent writer waits and then reads it. */
    async lockNewest(tx: Tx): Promise<VersionRow | undefined> {
      await tx.first(lock)
      return tx.first(newest)
    },
    page: (reader: Reader, limit: number) =>
      reader.all(query(newestFirst.select(columns).limit(limit))),
    find: (reader: Reader, version: string) =>
      reader.first(query(newestFirst.selectAll().where('version', '=', version).limit(1))),
    /** Returns false if another daemon was first: an empty table has no row to lock. */
    async add(tx: Tx, row: VersionRow) {
      const added = sql.insertInto('policy_version').values(row)
      return (await tx.run(query(added.onConflict((c) => c.column('number').doNothing())))) > 0
    },
  }
}
