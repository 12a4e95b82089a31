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
/** Timeout for a part of a large result, which takes seconds; detects a lost server. */
const maxReadMs = 120_000

export type PostgresOptions<P extends object> = {
  readonly url: string
  readonly sealer?: Sealer<P>
  readonly log: Log
}

/** Opens the shared engine: one connection writes in batches, several read, one listens. */
export async function openPostgres<P extends object>({
  url,
  sealer = noSealer,
  log,
}: PostgresOptions<P>): Promise<Db> {
  const settings = { ...connectionConfig(url), application_name: applicationName }
  const appends = createAppendNotifier()
  const listener = createNotifyListener({
    settings,
    onNotify: appends.notify,
    disconnectAll(why) {
      readPool.disconnectAll(why)
      writer.disconnect(why)
    },
    log,
  })
  const readPool = createReadPool(settings, listener.waitUntilReachable, log)
  const writer = createWriter(settings, listener.waitUntilReachable)
  const groupCommit = createGroupCommit(writer.connect, sealer, appends.notify)
  async function close() {
    await groupCommit.close()
    await listener.stop()
    await Promise.all([writer.end(), readPool.end()])
  }
  try {
    await writer.connect()
  } catch (error) {
    await close()
    throw error
  }

  return {
    dialect: 'postgres',
    outage: listener.outage,
    transact: groupCommit.transact,
    all: readPool.all,
    first: readPool.first,
    onAppend: appends.onAppend,
    isLeader: listener.isLeader,
    backup: (label) => copyTables(url, `cowork_${label.replaceAll(/\W/g, '_')}`),
    close,
  }
}

/** Opens a snapshot of the store, even while daemons write to it. */
export async function readPostgres(url: string): Promise<Snapshot> {
  const client = await connect(url)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  return createSnapshot(client, maxReadMs)
}

/** Opens an import. Foreign keys are dropped during the import and restored at commit, so that rows may come in any order. */
export async function openPostgresImport(url: string): Promise<StoreImport> {
  const client = await connect(url)
  await client.query('BEGIN')
  const { rows: references } = await client.query<{ at: string; name: string; def: string }>(
    `SELECT conrelid::regclass::text AS at, conname AS name, pg_get_constraintdef(oid) AS def
     FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`,
  )
  for (const { at, name } of references)
    await client.query(`ALTER TABLE ${at} DROP CONSTRAINT ${quoteIdentifier(name)}`)
  const { run, insert, commit } = postgresConnection(client)
  return {
    ...createSnapshot(client),
    run,
    insert,
    async commit() {
      for (const { at, name, def } of references)
        await client.query(`ALTER TABLE ${at} ADD CONSTRAINT ${quoteIdentifier(name)} ${def}`)
      await commit(true)
    },
  }
}

/** Returns whether a daemon on any machine uses the database. */
export async function isInUse(db: Snapshot): Promise<boolean> {
  const daemons = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = '${applicationName}' LIMIT 1`
  return (await db.first({ sql: daemons, parameters: [] })) !== undefined
}

async function connect(url: string): Promise<pg.Client> {
  const client = withErrorListener(new pg.Client(connectionConfig(url)))
  await client.connect().catch((error: unknown) => {
    throw noAnswerError(error)
  })
  return client
}

/** An import has no timeout: restoring foreign keys checks all rows. */
function createSnapshot(client: pg.Client, timeoutMs?: number): Snapshot {
  async function rows(query: string | pg.QueryConfig): Promise<unknown[]> {
    using _late =
      timeoutMs === undefined
        ? undefined
        : delayAfterPendingReads(timeoutMs, () => disconnect(client, timeoutError(timeoutMs)))
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

// With a server default of off, a crash could lose acknowledged commits (L12). The timeout ends the transaction of a
// vanished daemon, which would keep its rows locked: a body sends its statements without pauses.
const writerSettings =
  'SET synchronous_commit = on; SET idle_in_transaction_session_timeout = 10000'

function createWriter(settings: pg.ClientConfig, waitUntilReachable: () => Promise<void>) {
  let current: pg.Client | undefined
  let open: Promise<Connection> | undefined

  async function start(): Promise<Connection> {
    await waitUntilReachable()
    const client = withErrorListener(new pg.Client(settings))
    const onClosed = () => {
      if (current !== client) return
      current = undefined
      open = undefined
    }
    client.on('error', onClosed).on('end', onClosed)
    current = client
    try {
      await client.connect()
      await client.query(writerSettings)
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
    disconnect(why: Error) {
      if (current) disconnect(current, why)
    },
    async end() {
      if (current) await closeClient(current)
    },
  }
}

/** Codes of a full disk, a system error and a read-only server, such as after a failover. */
const serverErrorCodes = /^(53|58|25006)/

function postgresConnection(client: pg.Client): Connection {
  const getErrorCode = (error: unknown) => (error instanceof pg.DatabaseError && error.code) || ''
  return {
    begin: 'BEGIN',
    all: async (query) => (await runQuery(client, toPreparedQuery(query))).rows,
    run: async (query) => (await runQuery(client, toPreparedQuery(query))).rowCount ?? 0,
    async insert(table, rows) {
      const columns = Object.keys(rows[0] ?? {})
        .map(quoteIdentifier)
        .join(', ')
      const name = quoteIdentifier(table)
      // One parameter and one plan for any number of rows; the table provides the types.
      const sql = `INSERT INTO ${name} (${columns}) SELECT ${columns} FROM json_populate_recordset(null::${name}, $1)`
      await runQuery(client, toPreparedQuery({ sql, parameters: [JSON.stringify(rows)] }))
    },
    async control(sql) {
      await runQuery(client, sql)
    },
    async commit(appended) {
      const sql = appended ? `NOTIFY ${notifyChannel}; COMMIT` : 'COMMIT'
      const result = (await runQuery(client, sql)) as pg.QueryResult | pg.QueryResult[]
      // COMMIT of an aborted transaction rolls back without an error.
      const last = Array.isArray(result) ? result.at(-1) : result
      if (last?.command !== 'COMMIT') throw new Error(`COMMIT returned ${last?.command}`)
    },
    canRetry: (error) => ['40001', '40P01'].includes(getErrorCode(error)),
    isStoreFailure: (error) => isDisconnected(client) || serverErrorCodes.test(getErrorCode(error)),
    isDisconnected: () => isDisconnected(client),
  }
}

/** Copies all tables to another schema of the database, which needs no tool besides PostgreSQL. */
async function copyTables(url: string, schema: string): Promise<string> {
  const client = await connect(url)
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
