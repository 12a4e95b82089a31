import pg from 'pg'
import type { Log } from '../log.ts'
import { createGroupCommit } from './group-commit.ts'
import type { Connection } from './group-commit.ts'
import { quoteIdentifier } from './dialect.ts'
import { createAppendNotifier } from './append-notifier.ts'
import { noSealer } from './port.ts'
import type { Db, StoreImport, Query, Sealer, Snapshot } from './port.ts'
import {
  delayAfterPendingReads,
  runQuery,
  runQueryOnce,
  closeClient,
  disconnect,
  isDisconnected,
  connectionConfig,
  toPreparedQuery,
  timeoutError,
  noAnswerError,
  withErrorListener,
} from './postgres-connection.ts'
import { notifyChannel, createNotifyListener } from './postgres-listener.ts'
import { createReadPool } from './postgres-read-pool.ts'

const applicationName = 'cowork'
/** Reading a part of a large answer takes seconds; this is for a server that has vanished meanwhile. */
const longestRead = 120_000

export type PostgresOptions<P extends object> = {
  readonly url: string
  readonly sealer?: Sealer<P>
  readonly log: Log
}

/** The shared engine: one connection that writes in batches, a few that read, one that listens. */
export async function openPostgres<P extends object>({
  url,
  sealer = noSealer,
  log,
}: PostgresOptions<P>): Promise<Db> {
  const settings = { ...connectionConfig(url), application_name: applicationName }
  const growth = createAppendNotifier()
  const listener = createNotifyListener({
    settings,
    grown: growth.grown,
    cut(why) {
      reading.cut(why)
      writer.cut(why)
    },
    log,
  })
  const reading = createReadPool(settings, listener.reached, log)
  const writer = createWriter(settings, listener.reached)
  const batches = createGroupCommit(writer.connect, sealer, growth.grown)
  async function close() {
    await batches.close()
    await listener.stop()
    await Promise.all([writer.end(), reading.end()])
  }
  try {
    await writer.connect()
  } catch (error) {
    await close()
    throw error
  }

  return {
    dialect: 'postgres',
    trouble: listener.trouble,
    transact: batches.transact,
    all: reading.all,
    first: reading.first,
    onAppend: growth.onAppend,
    leads: listener.leads,
    backup: (label) => copyTables(url, `cowork_${label.replaceAll(/\W/g, '_')}`),
    close,
  }
}

/** The store as it is at this moment, even while daemons write it. */
export async function readPostgres(url: string): Promise<Snapshot> {
  const client = await connected(url)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  return snapshotOf(client, longestRead)
}

/** References are taken off while it is filled, so that rows may come in any order, and checked at the end. */
export async function openPostgresImport(url: string): Promise<StoreImport> {
  const client = await connected(url)
  await client.query('BEGIN')
  const { rows: references } = await client.query<{ at: string; name: string; def: string }>(
    `SELECT conrelid::regclass::text AS at, conname AS name, pg_get_constraintdef(oid) AS def
     FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`,
  )
  for (const { at, name } of references)
    await client.query(`ALTER TABLE ${at} DROP CONSTRAINT ${quoteIdentifier(name)}`)
  const { run, insert, commit } = postgresConnection(client)
  return {
    ...snapshotOf(client),
    run,
    insert,
    async commit() {
      for (const { at, name, def } of references)
        await client.query(`ALTER TABLE ${at} ADD CONSTRAINT ${quoteIdentifier(name)} ${def}`)
      await commit(true)
    },
  }
}

/** Whether a daemon is at work there, from whatever machine. */
export async function isInUse(db: Snapshot): Promise<boolean> {
  const daemons = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = '${applicationName}' LIMIT 1`
  return (await db.first({ sql: daemons, parameters: [] })) !== undefined
}

async function connected(url: string): Promise<pg.Client> {
  const client = withErrorListener(new pg.Client(connectionConfig(url)))
  await client.connect().catch((error: unknown) => {
    throw noAnswerError(error)
  })
  return client
}

/** Of one that is filled nobody knows how long a statement takes: references are checked over all its rows. */
function snapshotOf(client: pg.Client, longest?: number): Snapshot {
  async function rows(query: string | pg.QueryConfig): Promise<unknown[]> {
    using _late =
      longest === undefined
        ? undefined
        : delayAfterPendingReads(longest, () => disconnect(client, timeoutError(longest)))
    return (await runQueryOnce(client, query)).rows
  }
  return {
    dialect: 'postgres',
    all: async <R>(query: Query<R>) => (await rows(toPreparedQuery(query))) as R[],
    first: async <R>(query: Query<R>) => (await rows(toPreparedQuery(query)))[0] as R | undefined,
    async *scan<R>({ sql, parameters }: Query<R>, size: number) {
      await rows({ text: `DECLARE scan NO SCROLL CURSOR FOR ${sql}`, values: [...parameters] })
      for (;;) {
        const some = await rows(`FETCH ${size} FROM scan`)
        if (some.length > 0) yield some as R[]
        if (some.length < size) break
      }
      await rows('CLOSE scan')
    },
    close: () => closeClient(client),
    [Symbol.asyncDispose]: () => closeClient(client),
  }
}

// A server default of off would acknowledge what a crash can still take back (L12). And a body asks one statement
// after the other: who is silent in between has vanished, and would hold its rows against all other daemons.
const asWriter = 'SET synchronous_commit = on; SET idle_in_transaction_session_timeout = 10000'

function createWriter(settings: pg.ClientConfig, reached: () => Promise<void>) {
  let current: pg.Client | undefined
  let open: Promise<Connection> | undefined

  async function start(): Promise<Connection> {
    await reached()
    const client = withErrorListener(new pg.Client(settings))
    const drop = () => {
      if (current !== client) return
      current = undefined
      open = undefined
    }
    client.on('error', drop).on('end', drop)
    current = client
    try {
      await client.connect()
      await client.query(asWriter)
    } catch (error) {
      disconnect(client)
      throw noAnswerError(error)
    }
    return postgresConnection(client)
  }

  return {
    connect(): Promise<Connection> {
      open ??= start().catch((error: unknown) => {
        open = undefined
        throw error
      })
      return open
    },
    cut(why: Error) {
      if (current) disconnect(current, why)
    },
    async end() {
      if (current) await closeClient(current)
    },
  }
}

/** The server has no room, a fault of its own, or may not write, as after it changed places with its copy. */
const serversOwn = /^(53|58|25006)/

function postgresConnection(client: pg.Client): Connection {
  const codeOf = (error: unknown) => (error instanceof pg.DatabaseError && error.code) || ''
  return {
    begin: 'BEGIN',
    all: async (query) => (await runQuery(client, toPreparedQuery(query))).rows,
    run: async (query) => (await runQuery(client, toPreparedQuery(query))).rowCount ?? 0,
    async insert(table, rows) {
      const columns = Object.keys(rows[0] ?? {})
        .map(quoteIdentifier)
        .join(', ')
      const name = quoteIdentifier(table)
      // One parameter and one plan for any number of rows; the table itself gives the types.
      const sql = `INSERT INTO ${name} (${columns}) SELECT ${columns} FROM json_populate_recordset(null::${name}, $1)`
      await runQuery(client, toPreparedQuery({ sql, parameters: [JSON.stringify(rows)] }))
    },
    async control(sql) {
      await runQuery(client, sql)
    },
    async commit(appended) {
      const sql = appended ? `NOTIFY ${notifyChannel}; COMMIT` : 'COMMIT'
      const result = (await runQuery(client, sql)) as pg.QueryResult | pg.QueryResult[]
      // An aborted transaction answers COMMIT with a rollback and no error.
      const last = Array.isArray(result) ? result.at(-1) : result
      if (last?.command !== 'COMMIT') throw new Error(`commit was answered by ${last?.command}`)
    },
    mayRetry: (error) => ['40001', '40P01'].includes(codeOf(error)),
    isBroken: (error) => isDisconnected(client) || serversOwn.test(codeOf(error)),
    isLost: () => isDisconnected(client),
  }
}

/** A copy inside the database: it needs no program besides PostgreSQL itself. */
async function copyTables(url: string, schema: string): Promise<string> {
  const client = await connected(url)
  try {
    const { rows } = await runQueryOnce<{ name: string }>(client, {
      text: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = $1',
      values: ['BASE TABLE'],
    })
    const copies = rows.map(({ name }) => `CREATE TABLE ${schema}."${name}" AS TABLE "${name}"`)
    await runQueryOnce(client, [`BEGIN; CREATE SCHEMA ${schema}`, ...copies, 'COMMIT'].join('; '))
    return `schema ${schema}`
  } finally {
    await closeClient(client)
  }
}
