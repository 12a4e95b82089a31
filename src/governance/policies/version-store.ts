import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'

/** `version` is of the content and may come back; `number` counts what was ever in force, from 0. */
export type VersionRow = {
  number: number
  version: string
  source: string
  by: string
  note: string
  at: number
  body: string
  /** Digest of what cowork.yaml said then: where it says the same, what was saved later stands. */
  file: string
}

/** The only SQL about versions of the policies. */
export function createVersionStore(dialect: Dialect) {
  const sql = builder<{ policy_version: VersionRow }>(dialect)
  const first = sql.selectFrom('policy_version').select('number').where('number', '=', 0)
  const lock = query(dialect === 'postgres' ? first.forUpdate() : first)
  const newest = query(
    sql.selectFrom('policy_version').selectAll().orderBy('number', 'desc').limit(1),
  )
  const page = statement((p: { limit: number }) =>
    sql
      .selectFrom('policy_version')
      .select(['number', 'version', 'source', 'by', 'note', 'at'])
      .orderBy('number', 'desc')
      .limit(p.limit),
  )
  const one = statement((p: { version: string }) =>
    sql
      .selectFrom('policy_version')
      .selectAll()
      .where('version', '=', p.version)
      .orderBy('number', 'desc')
      .limit(1),
  )
  const add = statement((p: VersionRow) => {
    const { number, version, source, by, note, at, body, file } = p
    return sql
      .insertInto('policy_version')
      .values({ number, version, source, by, note, at, body, file })
      .onConflict((c) => c.column('number').doNothing())
  })

  return {
    newest: (reader: Reader) => reader.first(newest),
    /** To add one: who comes next waits, and reads it. */
    async lockNewest(tx: Tx): Promise<VersionRow | undefined> {
      await tx.first(lock)
      return tx.first(newest)
    },
    page: (reader: Reader, limit: number) => reader.all(page({ limit })),
    find: (reader: Reader, version: string) => reader.first(one({ version })),
    /** False where another daemon was first: there is no lock on an empty table. */
    add: async (tx: Tx, row: VersionRow) => (await tx.run(add(row))) > 0,
  }
}
