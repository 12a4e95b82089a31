// The floor of N6: the same body and the same seal, with a transaction and an fsync of their own.
import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Body, Query, Sealer, Tx } from '#base/db/port.ts'

export function openLoneSqlite<P extends object>(path: string, sealer: Sealer<P>) {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000')
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
      const marks = columns.map(() => '?').join(', ')
      const insert = prepared(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`)
      for (const row of rows) insert.run(...columns.map((column) => row[column] as SQLInputValue))
    },
    append: (draft) => void entries.push(sealer.prepare(draft)),
  }

  return {
    async transact(body: Body<unknown>): Promise<void> {
      entries = []
      prepared('BEGIN IMMEDIATE').run()
      await body(tx)
      await sealer.seal(tx, entries)
      prepared('COMMIT').run()
    },
    close() {
      statements.clear()
      db.close()
    },
  }
}
