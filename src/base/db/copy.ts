import { sha256 } from '../hash.ts'
import { quoteIdentifier } from './dialect.ts'
import type { Dialect, StoreImport, Query, Reader, Snapshot } from './port.ts'

type Row = Record<string, unknown>
export type CopyResult = { readonly table: string; readonly rows: number }
export type OnTableCopied = (table: string, rows: number, of: number) => void

/** Small enough that the largest rows fit into one statement. */
const batchSize = 250

/**
 * Copies every table of a store to a store with the same schema, on either engine, and replaces the rows there. Reads
 * the rows back and compares them.
 */
export async function copyTables(
  from: Snapshot,
  to: StoreImport,
  onCopied: OnTableCopied = () => undefined,
): Promise<CopyResult[]> {
  const sourceTables = new Set(await tableNames(from))
  const copied: CopyResult[] = []
  for (const table of await tableNames(to)) {
    if (!sourceTables.has(table)) continue
    await to.run(query(`DELETE FROM ${quoteIdentifier(table)}`))
    const total = await rowCount(from, table)
    const [sent, arrived] = [createDigest(), createDigest()]
    for await (const rows of scan(from, table)) {
      for (const row of rows) sent.add(row)
      await to.insert(
        table,
        rows.map((row) => toDialectRow(row, to.dialect)),
      )
      onCopied(table, sent.count(), total)
    }
    for await (const rows of scan(to, table)) for (const row of rows) arrived.add(row)
    if (sent.value() !== arrived.value())
      throw new Error(`the copy of table ${table} differs from its source`)
    copied.push({ table, rows: sent.count() })
  }
  return copied
}

export async function tableNames({ dialect, all }: Snapshot): Promise<string[]> {
  const rows = await all(dialect === 'sqlite' ? sqliteTables : postgresTables)
  return rows.map(({ name }) => name)
}

export const hasRows = async (db: Reader, table: string): Promise<boolean> =>
  (await db.first(query(`SELECT 1 FROM ${quoteIdentifier(table)} LIMIT 1`))) !== undefined

const sqliteTables = query<{ name: string }>(
  `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
)
const postgresTables = query<{ name: string }>(
  `SELECT table_name AS name FROM information_schema.tables
   WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY table_name`,
)

function query<R>(sql: string): Query<R> {
  return { sql, parameters: [] }
}

const scan = (db: Snapshot, table: string) =>
  db.scan<Row>(query(`SELECT * FROM ${quoteIdentifier(table)}`), batchSize)

async function rowCount(db: Reader, table: string): Promise<number> {
  const counted = query<{ rows: number }>(`SELECT count(*) AS rows FROM ${quoteIdentifier(table)}`)
  return Number((await db.first(counted))?.rows ?? 0)
}

/** Converts bytes and booleans, which the engines represent differently. */
function toDialectRow(row: Row, dialect: Dialect): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (dialect === 'sqlite') return [name, typeof value === 'boolean' ? Number(value) : value]
      return [name, value instanceof Uint8Array ? `\\x${hex(value)}` : value]
    }),
  )
}

/** Builds a digest that does not depend on the order of rows, which differs between the engines. */
function createDigest() {
  let sum = 0n
  let count = 0
  return {
    add(row: Row) {
      const cells = Object.keys(row)
        .sort()
        .map((name) => [name, normalizeCell(row[name])])
      sum += sha256(JSON.stringify(cells)).readBigUInt64BE()
      count++
    },
    count: () => count,
    value: () => `${count} ${BigInt.asUintN(64, sum)}`,
  }
}

function normalizeCell(value: unknown): unknown {
  if (value instanceof Uint8Array) return `\\x${hex(value)}`
  return typeof value === 'boolean' ? Number(value) : value
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
