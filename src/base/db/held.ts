import type { Connection } from './batch.ts'

type Row = Readonly<Record<string, unknown>>

/**
 * Rows that bodies insert wait until a statement names their table, or until the batch ends, and then go as one
 * statement for all bodies. On PostgreSQL that is a round trip less for each: 2,280 proposals a second, not 1,530.
 * A statement that sees a table by another name, as through a view, does not see what waits.
 */
export function holdInserts(connection: Connection) {
  /** By table and columns, since a statement has one set of them. */
  const held = new Map<string, { readonly table: string; readonly rows: Row[] }>()
  let failure: Error | undefined

  async function release(): Promise<void> {
    // It may be another body's row that failed: whoever ran into it cannot make it good.
    if (failure) throw failure
    for (const [shape, { table, rows }] of held) {
      held.delete(shape)
      await connection.insert(table, rows).catch((cause: unknown) => {
        failure = cause instanceof Error ? cause : new Error(String(cause))
        throw failure
      })
    }
  }

  async function before(sql: string): Promise<void> {
    for (const { table } of held.values()) if (wordOf(table).test(sql)) return release()
  }

  return {
    release,
    connection: {
      ...connection,
      async all(query) {
        if (held.size > 0) await before(query.sql)
        return connection.all(query)
      },
      async run(query) {
        if (held.size > 0) await before(query.sql)
        return connection.run(query)
      },
      async insert(table, rows) {
        for (const row of rows) {
          const shape = [table, ...Object.keys(row)].join()
          const others = held.get(shape)
          if (others) others.rows.push(row)
          else held.set(shape, { table, rows: [row] })
        }
      },
    } satisfies Connection,
  }
}

const words = new Map<string, RegExp>()

function wordOf(table: string): RegExp {
  const word = words.get(table) ?? new RegExp(`\\b${table}\\b`)
  words.set(table, word)
  return word
}
