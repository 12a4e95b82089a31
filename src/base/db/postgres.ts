import pg from 'pg'
import type { Log } from '../log.ts'
import { createBatches } from './batch.ts'
import type { Connection } from './batch.ts'
import { quoted } from './dialect.ts'
import { createGrowth } from './growth.ts'
import { noSealer } from './port.ts'
import type { Db, Filling, Query, Sealer, Snapshot } from './port.ts'
import {
  after,
  ask,
  askOnce,
  end,
  hangUp,
  isLost,
  lineTo,
  named,
  silence,
  unanswered,
  watched,
} from './postgres-line.ts'
import { channel, createListener } from './postgres-listener.ts'
import { createReading } from './postgres-reading.ts'

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
  const settings = { ...lineTo(url), application_name: applicationName }
  const growth = createGrowth()
  const listener = createListener({
    settings,
    grown: growth.grown,
    cut(why) {
      reading.cut(why)
      writer.cut(why)
    },
    log,
  })
  const reading = createReading(settings, listener.reached, log)
  const writer = createWriter(settings, listener.reached)
  const batches = createBatches(writer.connect, sealer, growth.grown)
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
    onGrowth: growth.onGrowth,
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
export async function fillPostgres(url: string): Promise<Filling> {
  const client = await connected(url)
  await client.query('BEGIN')
  const { rows: references } = await client.query<{ at: string; name: string; def: string }>(
    `SELECT conrelid::regclass::text AS at, conname AS name, pg_get_constraintdef(oid) AS def
     FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`,
  )
  for (const { at, name } of references)
    await client.query(`ALTER TABLE ${at} DROP CONSTRAINT ${quoted(name)}`)
  const { run, insert, commit } = postgresConnection(client)
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
  const client = watched(new pg.Client(lineTo(url)))
  await client.connect().catch((error: unknown) => {
    throw unanswered(error)
  })
  return client
}

/** Of one that is filled nobody knows how long a statement takes: references are checked over all its rows. */
function snapshotOf(client: pg.Client, longest?: number): Snapshot {
  async function rows(query: string | pg.QueryConfig): Promise<unknown[]> {
    using _late =
      longest === undefined ? undefined : after(longest, () => hangUp(client, silence(longest)))
    return (await askOnce(client, query)).rows
  }
  return {
    dialect: 'postgres',
    all: async <R>(query: Query<R>) => (await rows(named(query))) as R[],
    first: async <R>(query: Query<R>) => (await rows(named(query)))[0] as R | undefined,
    async *scan<R>({ sql, parameters }: Query<R>, size: number) {
      await rows({ text: `DECLARE scan NO SCROLL CURSOR FOR ${sql}`, values: [...parameters] })
      for (;;) {
        const some = await rows(`FETCH ${size} FROM scan`)
        if (some.length > 0) yield some as R[]
        if (some.length < size) break
      }
      await rows('CLOSE scan')
    },
    close: () => end(client),
    [Symbol.asyncDispose]: () => end(client),
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
    const client = watched(new pg.Client(settings))
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
      hangUp(client)
      throw unanswered(error)
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
      if (current) hangUp(current, why)
    },
    async end() {
      if (current) await end(current)
    },
  }
}

/** The server has no room, a fault of its own, or may not write, as after it changed places with its copy. */
const serversOwn = /^(53|58|25006)/

function postgresConnection(client: pg.Client): Connection {
  const codeOf = (error: unknown) => (error instanceof pg.DatabaseError && error.code) || ''
  return {
    begin: 'BEGIN',
    all: async (query) => (await ask(client, named(query))).rows,
    run: async (query) => (await ask(client, named(query))).rowCount ?? 0,
    async insert(table, rows) {
      const columns = Object.keys(rows[0] ?? {})
        .map(quoted)
        .join(', ')
      const name = quoted(table)
      // One parameter and one plan for any number of rows; the table itself gives the types.
      const sql = `INSERT INTO ${name} (${columns}) SELECT ${columns} FROM json_populate_recordset(null::${name}, $1)`
      await ask(client, named({ sql, parameters: [JSON.stringify(rows)] }))
    },
    async control(sql) {
      await ask(client, sql)
    },
    async commit(appended) {
      const sql = appended ? `NOTIFY ${channel}; COMMIT` : 'COMMIT'
      const result = (await ask(client, sql)) as pg.QueryResult | pg.QueryResult[]
      // An aborted transaction answers COMMIT with a rollback and no error.
      const last = Array.isArray(result) ? result.at(-1) : result
      if (last?.command !== 'COMMIT') throw new Error(`commit was answered by ${last?.command}`)
    },
    mayRetry: (error) => ['40001', '40P01'].includes(codeOf(error)),
    isBroken: (error) => isLost(client) || serversOwn.test(codeOf(error)),
    isLost: () => isLost(client),
  }
}

/** A copy inside the database: it needs no program besides PostgreSQL itself. */
async function copyTables(url: string, schema: string): Promise<string> {
  const client = await connected(url)
  try {
    const { rows } = await askOnce<{ name: string }>(client, {
      text: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = $1',
      values: ['BASE TABLE'],
    })
    const copies = rows.map(({ name }) => `CREATE TABLE ${schema}."${name}" AS TABLE "${name}"`)
    await askOnce(client, [`BEGIN; CREATE SCHEMA ${schema}`, ...copies, 'COMMIT'].join('; '))
    return `schema ${schema}`
  } finally {
    await end(client)
  }
}
