// The floor of N7: the same body and seal, one transaction each, on a pool of connections.
import pg from 'pg'
import { quoteIdentifier } from '#base/db/dialect.ts'
import type { TransactionBody, Query, Sealer, Tx } from '#base/db/port.ts'
import { sha256Hex } from '#base/hash.ts'

/** More connections only lengthen the queue for the head of the ledger. */
const connections = 16

const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)

export function openLonePostgres<P extends object>(url: string, sealer: Sealer<P>) {
  const pool = new pg.Pool({ connectionString: url, max: connections, types: { getTypeParser } })
  const names = new Map<string, string>()
  const named = ({ sql, parameters }: Query) => {
    const name = names.get(sql) ?? sha256Hex(sql).slice(0, 16)
    names.set(sql, name)
    return { name, text: sql, values: [...parameters] }
  }

  function txOn(client: pg.PoolClient, entries: P[]): Tx {
    const rows = async (query: Query) => (await client.query(named(query))).rows
    return {
      all: async <R>(query: Query<R>) => (await rows(query)) as R[],
      first: async <R>(query: Query<R>) => (await rows(query))[0] as R | undefined,
      run: async (query) => (await client.query(named(query))).rowCount ?? 0,
      async insert(table, all) {
        const columns = Object.keys(all[0] ?? {})
          .map(quoteIdentifier)
          .join(', ')
        const name = quoteIdentifier(table)
        const sql = `INSERT INTO ${name} (${columns}) SELECT ${columns} FROM json_populate_recordset(null::${name}, $1)`
        await rows({ sql, parameters: [JSON.stringify(all)] })
      },
      append: (draft) => void entries.push(sealer.prepare(draft)),
    }
  }

  return {
    async transact<T>(body: TransactionBody<T>): Promise<T> {
      const client = await pool.connect()
      const entries: P[] = []
      const tx = txOn(client, entries)
      try {
        await client.query('BEGIN')
        const value = await body(tx)
        if (entries.length > 0) await sealer.seal(tx, entries)
        await client.query('COMMIT')
        return value
      } finally {
        client.release()
      }
    },
    close: () => pool.end(),
  }
}
