import pg from 'pg'
import { CoworkError, messageOf } from '../errors.ts'
import { sha256Hex } from '../hash.ts'
import type { Log } from '../log.ts'
import { createBatches } from './batch.ts'
import type { Connection } from './batch.ts'
import { quoted } from './dialect.ts'
import { createGrowth } from './growth.ts'
import { noSealer } from './port.ts'
import type { Db, Filling, Query, Sealer, Snapshot } from './port.ts'

const channel = 'cowork_ledger'
/** Any fixed number: daemons of one database agree on who signs by it. */
const signerLock = 0x636f776b
const reconnectAfter = 500
const applicationName = 'cowork'

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
  const settings = {
    connectionString: url,
    types: { getTypeParser },
    application_name: applicationName,
  }
  const reading = new pg.Pool({ ...settings, max: 4 })
  // Without a listener an idle connection that dies would end the process.
  reading.on('error', (error) =>
    log.warn('a reading connection was lost', { error: error.message }),
  )
  const growth = createGrowth()
  const writer = createWriter(settings)
  const batches = createBatches(writer.connect, sealer, growth.grown)
  const listener = createListener(settings, growth.grown, log)
  await writer.connect().catch(unanswered)
  await listener.start()

  return {
    dialect: 'postgres',
    transact: batches.transact,
    all: async <R>(query: Query<R>) => (await reading.query(named(query))).rows as R[],
    first: async <R>(query: Query<R>) =>
      (await reading.query(named(query))).rows[0] as R | undefined,
    onGrowth: growth.onGrowth,
    leads: listener.leads,
    backup: (label) => copyTables(reading, `cowork_${label.replaceAll(/\W/g, '_')}`),
    async close() {
      await batches.close()
      await listener.stop()
      await writer.end()
      await reading.end()
    },
  }
}

/** The store as it is at this moment, even while daemons write it. */
export async function readPostgres(url: string): Promise<Snapshot> {
  const client = await connected(url)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  return snapshotOf(client)
}

/** References are taken off while it is filled, so that rows may come in any order, and checked at the end. */
export async function fillPostgres(url: string): Promise<Filling> {
  const client = await connected(url)
  await client.query('BEGIN')
  const { rows: references } = await client.query<{ at: string; name: string; def: string }>(
    `SELECT conrelid::regclass::text AS at, conname AS name, pg_get_constraintdef(oid) AS def
     FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`,
  )
  for (const { at, name } of references)
    await client.query(`ALTER TABLE ${at} DROP CONSTRAINT ${quoted(name)}`)
  const { run, insert, commit } = postgresConnection(client, () => false)
  return {
    ...snapshotOf(client),
    run,
    insert,
    async commit() {
      for (const { at, name, def } of references)
        await client.query(`ALTER TABLE ${at} ADD CONSTRAINT ${quoted(name)} ${def}`)
      await commit(true)
    },
  }
}

/** Whether a daemon is at work there, from whatever machine. */
export async function isServed(db: Snapshot): Promise<boolean> {
  const daemons = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = '${applicationName}' LIMIT 1`
  return (await db.first({ sql: daemons, parameters: [] })) !== undefined
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, types: { getTypeParser } })
  await client.connect().catch(unanswered)
  // The next statement fails with the reason; without a listener it would end the process.
  client.on('error', () => undefined)
  return client
}

const snapshotOf = (client: pg.Client): Snapshot => ({
  dialect: 'postgres',
  all: async <R>(query: Query<R>) => (await client.query(named(query))).rows as R[],
  first: async <R>(query: Query<R>) => (await client.query(named(query))).rows[0] as R | undefined,
  async *scan<R>({ sql, parameters }: Query<R>, size: number) {
    await client.query(`DECLARE scan NO SCROLL CURSOR FOR ${sql}`, [...parameters])
    for (;;) {
      const { rows } = await client.query(`FETCH ${size} FROM scan`)
      if (rows.length > 0) yield rows as R[]
      if (rows.length < size) break
    }
    await client.query('CLOSE scan')
  },
  close: () => client.end(),
  [Symbol.asyncDispose]: () => client.end(),
})

function unanswered(cause: unknown): never {
  // A name with several addresses fails once for each of them.
  const causes: unknown[] = cause instanceof AggregateError ? cause.errors : [cause]
  const why = causes.map(messageOf).join('; ')
  throw new CoworkError('store_unavailable', `PostgreSQL did not answer: ${why}`, {
    hint: 'Check storage.url and that the server is running.',
    cause,
  })
}

/** int8 as a number: sequence numbers and milliseconds are far below 2^53. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)

/** A prepared statement per text; names are short digests, so equal texts share one. */
const names = new Map<string, string>()
function named(query: Query): pg.QueryConfig {
  let name = names.get(query.sql)
  if (!name && names.size < 500) {
    name = sha256Hex(query.sql).slice(0, 16)
    names.set(query.sql, name)
  }
  return { text: query.sql, values: [...query.parameters], ...(name && { name }) }
}

function createWriter(settings: pg.ClientConfig) {
  let open: Promise<{ client: pg.Client; connection: Connection }> | undefined

  async function start() {
    const client = new pg.Client(settings)
    let lost = false
    const drop = () => {
      lost = true
      open = undefined
    }
    client.on('error', drop).on('end', drop)
    await client.connect()
    // A server default of off would acknowledge what a crash can still take back (L12).
    await client.query('SET synchronous_commit = on')
    return { client, connection: postgresConnection(client, () => lost) }
  }

  return {
    async connect(): Promise<Connection> {
      open ??= start().catch((error: unknown) => {
        open = undefined
        throw error
      })
      return (await open).connection
    },
    async end() {
      await (await open)?.client.end()
    },
  }
}

function postgresConnection(client: pg.Client, isLost: () => boolean): Connection {
  return {
    begin: 'BEGIN',
    all: async (query) => (await client.query(named(query))).rows,
    run: async (query) => (await client.query(named(query))).rowCount ?? 0,
    async insert(table, rows) {
      const columns = Object.keys(rows[0] ?? {})
        .map(quoted)
        .join(', ')
      const name = quoted(table)
      // One parameter and one plan for any number of rows; the table itself gives the types.
      const sql = `INSERT INTO ${name} (${columns}) SELECT ${columns} FROM json_populate_recordset(null::${name}, $1)`
      await client.query(named({ sql, parameters: [JSON.stringify(rows)] }))
    },
    async control(sql) {
      await client.query(sql)
    },
    async commit(appended) {
      const sql = appended ? `NOTIFY ${channel}; COMMIT` : 'COMMIT'
      const result = (await client.query(sql)) as pg.QueryResult | pg.QueryResult[]
      // An aborted transaction answers COMMIT with a rollback and no error.
      const last = Array.isArray(result) ? result.at(-1) : result
      if (last?.command !== 'COMMIT') throw new Error(`commit was answered by ${last?.command}`)
    },
    mayRetry: (error) =>
      error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01'),
    isBroken: isLost,
    isLost,
  }
}

/** Hears of other daemons' commits, and holds the lock of the one that signs. Reconnects by itself. */
function createListener(settings: pg.ClientConfig, grown: () => void, log: Log) {
  let client: pg.Client | undefined
  let holds = false
  let stopped = false
  let retry: NodeJS.Timeout | undefined

  async function start() {
    const fresh = new pg.Client(settings)
    const lost = (error?: Error) => {
      if (client !== fresh || stopped) return
      client = undefined
      holds = false
      log.warn('the listening connection was lost', { error: error?.message })
      again()
    }
    fresh.on('error', lost).on('end', () => lost())
    fresh.on('notification', grown)
    await fresh.connect()
    await fresh.query(`LISTEN ${channel}`)
    client = fresh
    // What was committed while nobody listened must not wait for the next commit.
    grown()
  }

  function again() {
    retry = setTimeout(() => {
      if (!stopped) start().catch(again)
    }, reconnectAfter)
  }

  return {
    start,
    async leads() {
      if (!client || stopped) return false
      if (holds) return true
      const asked = client
      const { rows } = await asked.query<{ held: boolean }>(
        'SELECT pg_try_advisory_lock($1) AS held',
        [signerLock],
      )
      holds = client === asked && rows[0]?.held === true
      return holds
    },
    async stop() {
      stopped = true
      clearTimeout(retry)
      await client?.end()
    },
  }
}

/** A copy inside the database: it needs no program besides PostgreSQL itself. */
async function copyTables(pool: pg.Pool, schema: string): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = $1',
    ['BASE TABLE'],
  )
  const copies = rows.map(({ name }) => `CREATE TABLE ${schema}."${name}" AS TABLE "${name}"`)
  await pool.query([`BEGIN; CREATE SCHEMA ${schema}`, ...copies, 'COMMIT'].join('; '))
  return `schema ${schema}`
}
