// The floor of N6: the same body and seal, with one transaction and fsync each.
import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { TransactionBody, Query, Sealer, Tx } from '#base/db/port.ts'
import { buildInsert } from '#base/db/sqlite.ts'

export function openLoneSqlite<P extends object>(path: string, sealer: Sealer<P>) {
  const db = new DatabaseSync(path)
  // As the store sets them: only the commit differs.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = on')
  db.exec('PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = on; PRAGMA cache_size = -16000')
  const statements = new Map<string, StatementSync>()
  const prepared = (sql: string) => {
    const known = statements.get(sql) ?? db.prepare(sql)
    statements.set(sql, known)
    return known
  }
  const values = (query: Query) => query.parameters as SQLInputValue[]
  let entries: P[] = []

  const tx: Tx = {
    all: async <R>(query: Query<R>) => prepared(query.sql).all(...values(query)) as R[],
    first: async <R>(query: Query<R>) => prepared(query.sql).get(...values(query)) as R | undefined,
    run: async (query) => Number(prepared(query.sql).run(...values(query)).changes),
    async insert(table, rows) {
      const columns = Object.keys(rows[0] ?? {})
      const insert = prepared(buildInsert(table, columns))
      for (const row of rows) insert.run(...columns.map((column) => row[column] as SQLInputValue))
    },
    append: (draft) => void entries.push(sealer.prepare(draft)),
  }

  async function alone<T>(body: TransactionBody<T>): Promise<T> {
    entries = []
    prepared('BEGIN IMMEDIATE').run()
    const value = await body(tx)
    if (entries.length > 0) await sealer.seal(tx, entries)
    prepared('COMMIT').run()
    return value
  }

  let before: Promise<unknown> = Promise.resolve()
  return {
    /** One after the other: SQLite has one writer. */
    transact<T>(body: TransactionBody<T>): Promise<T> {
      const mine = before.then(() => alone(body))
      before = mine
      return mine
    },
    close() {
      statements.clear()
      db.close()
    },
  }
}
