import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { CoworkError, errorMessage } from '../errors.ts'
import { createGroupCommit } from './group-commit.ts'
import type { Connection } from './group-commit.ts'
import { quoteIdentifier } from './dialect.ts'
import { createAppendNotifier } from './append-notifier.ts'
import { noSealer } from './port.ts'
import type { Db, StoreImport, Query, Reader, Sealer, Snapshot } from './port.ts'

/**
 * The embedded engine: one connection that writes, one that reads, both on the main thread.
 * (Measured: 38,400 writes/s inline, 29,300/s as commands to a worker thread.)
 */
export function openSqlite<P extends object>(
  path: string,
  sealer: Sealer<P> = noSealer,
  { isLasting = false }: { /** It is worth making room for. */ isLasting?: boolean } = {},
): Db {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const writing = open(path)
  if (isLasting) growLog(writing.db)
  const reading = open(path)
  reading.db.exec('PRAGMA query_only = on')
  const growth = createAppendNotifier()
  const connection = sqliteConnection(writing)
  const batches = createGroupCommit(() => Promise.resolve(connection), sealer, growth.grown)

  return {
    dialect: 'sqlite',
    trouble: () => undefined,
    transact: batches.transact,
    ...readerOf(reading),
    onAppend: growth.onAppend,
    leads: () => Promise.resolve(true),
    async backup(label) {
      const copy = `${path}.${label}.bak`
      writing.db.prepare('VACUUM INTO ?').run(copy)
      return copy
    },
    async close() {
      await batches.close()
      reading.close()
      writing.db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      writing.close()
    },
  }
}

/** The store as it is at this moment, even while a daemon writes it. Changes nothing. */
export function readSqlite(path: string): Snapshot {
  const reading = open(path, { readOnly: true })
  reading.db.exec('BEGIN')
  return snapshotOf(reading)
}

/**
 * A store of its own that is filled and then taken into use by another name. It is one file: no log beside it
 * has to come along. References are checked at the end, so that rows may come in any order.
 */
export function openSqliteImport(path: string): StoreImport {
  const filling = open(path)
  filling.db.exec('PRAGMA journal_mode = DELETE; PRAGMA foreign_keys = off; BEGIN IMMEDIATE')
  const { run, insert } = sqliteConnection(filling)
  return {
    ...snapshotOf(filling),
    run,
    insert,
    async commit() {
      const stray = filling.db.prepare('PRAGMA foreign_key_check').get()
      if (stray) throw new Error(`a row refers to one that is not there: ${JSON.stringify(stray)}`)
      filling.db.exec('COMMIT')
    },
  }
}

/** `ok`, or what is wrong with the file as it is on disk. */
export function checkIntegrity(path: string): string {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const found = db.prepare('PRAGMA integrity_check(5)').all()
    return found.map(({ integrity_check: line }) => String(line)).join('; ')
  } catch (error) {
    return errorMessage(error)
  } finally {
    db.close()
  }
}

const snapshotOf = (opened: Opened): Snapshot => ({
  dialect: 'sqlite',
  ...readerOf(opened),
  async *scan<R>(query: Query<R>, size: number) {
    let rows: R[] = []
    for (const row of opened.prepared(query.sql).each(values(query))) {
      if (rows.push(row as R) < size) continue
      yield rows
      rows = []
    }
    if (rows.length > 0) yield rows
  },
  close: async () => opened.close(),
  [Symbol.asyncDispose]: async () => opened.close(),
})

const readerOf = ({ prepared }: Opened): Reader => ({
  all: async <R>(query: Query<R>) => prepared(query.sql).all(values(query)) as R[],
  first: async <R>(query: Query<R>) => prepared(query.sql).first(values(query)) as R | undefined,
})

const values = (query: Query) => query.parameters as SQLInputValue[]

type Opened = {
  readonly db: DatabaseSync
  prepared(sql: string): Statement
  close(): void
}

type Row = Record<string, unknown>
type Values = readonly SQLInputValue[]

type Statement = {
  all(values: Values): Row[]
  first(values: Values): Row | undefined
  each(values: Values): Iterable<Row>
  /** Gives the number of rows changed. */
  run(values: Values): number
}

/** Rows come as lists and get their names here: 2 µs for 15 columns, where node:sqlite's own objects take 4. */
function statementOf(prepared: StatementSync): Statement {
  prepared.setReturnArrays(true)
  let names: string[] = []

  function rowOf(list: readonly unknown[]): Row {
    // A migration may have added a column since.
    if (list.length !== names.length) names = prepared.columns().map(({ name }) => name)
    const row: Row = {}
    for (let at = 0; at < list.length; at++) row[names[at] as string] = list[at]
    return row
  }
  const listOf = (row: unknown) => row as readonly unknown[]

  return {
    all: (values) => prepared.all(...values).map((row) => rowOf(listOf(row))),
    first(values) {
      const row = prepared.get(...values)
      return row && rowOf(listOf(row))
    },
    *each(values) {
      for (const row of prepared.iterate(...values)) yield rowOf(listOf(row))
    },
    run: (values) => Number(prepared.run(...values).changes),
  }
}

function open(path: string, options: { readOnly?: boolean } = {}): Opened {
  const db = connect(path, options)
  const statements = new Map<string, Statement>()
  return {
    db,
    prepared(sql) {
      let found = statements.get(sql)
      if (!found) {
        // Statements with free filters would grow this without end.
        if (statements.size >= 500) statements.clear()
        found = statementOf(db.prepare(sql))
        statements.set(sql, found)
      }
      return found
    },
    close() {
      statements.clear()
      db.close()
    },
  }
}

function connect(path: string, options: { readOnly?: boolean }): DatabaseSync {
  try {
    const db = new DatabaseSync(path, options)
    // Every setting by hand: node:sqlite opens with a busy timeout of 0, and defaults differ per build.
    // And what is deleted is overwritten, not only forgotten: an erased payload must be gone (L8).
    if (!options.readOnly)
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = on')
    db.exec('PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = on; PRAGMA cache_size = -16000')
    return db
  } catch (cause) {
    throw new CoworkError(
      'store_unavailable',
      `${path} cannot be opened: ${errorMessage(cause)}.`,
      {
        hint: 'Check that it is a cowork store and that you may read it, or restore a backup.',
        cause,
      },
    )
  }
}

/** What SQLite lets the log grow to before it writes it from the start again. */
const logBytes = 1000 * 4096

/**
 * While the log is growing, each commit changes its length as well, and a disk with a journal writes that too:
 * 260 µs a commit instead of 170, for the first few hundred after every start. So it grows now, in 20 ms.
 */
function growLog(db: DatabaseSync): void {
  db.exec('CREATE TABLE IF NOT EXISTS room (bytes)')
  db.exec(`INSERT INTO room VALUES (zeroblob(${logBytes}))`)
  db.exec('DROP TABLE room')
  db.exec('PRAGMA wal_checkpoint(RESTART)')
}

const inserts = new Map<string, string>()

/** To spell the columns costs more than to insert a row, and there are few sets of them. */
export function buildInsert(table: string, columns: readonly string[]): string {
  const shape = `${table} ${columns.join()}`
  let sql = inserts.get(shape)
  if (sql === undefined) {
    const marks = columns.map(() => '?').join(', ')
    sql = `INSERT INTO ${quoteIdentifier(table)} (${columns.map(quoteIdentifier).join(', ')}) VALUES (${marks})`
    inserts.set(shape, sql)
  }
  return sql
}

function sqliteConnection({ db, prepared }: Opened): Connection {
  return {
    begin: 'BEGIN IMMEDIATE',
    all: async (query) => prepared(query.sql).all(values(query)),
    run: async (query) => prepared(query.sql).run(values(query)),
    async insert(table, rows) {
      const columns = Object.keys(rows[0] ?? {})
      const insert = prepared(buildInsert(table, columns))
      for (const row of rows) insert.run(columns.map((column) => row[column] as SQLInputValue))
    },
    async control(sql) {
      // Prepared statements are several times cheaper than exec, and this runs for every body.
      for (const one of sql.split('; ')) prepared(one).run([])
    },
    async commit() {
      prepared('COMMIT').run([])
    },
    mayRetry: () => false,
    isBroken: () => !db.isTransaction,
    isLost: () => false,
  }
}
