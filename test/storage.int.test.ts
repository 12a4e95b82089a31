import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { verify as verifyStored } from '../src/cli/audit-verify.ts'
import { migrateStorage } from '../src/cli/storage.ts'
import { startTestApp } from './app.ts'
import { testPlace } from './cli.ts'
import { runCommandWithState } from './commands.ts'
import { createTestDatabase } from './databases.ts'
import { fillState } from './filled-state.ts'

const newDatabase = () => createTestDatabase(inject('postgresUrl'))

async function postgresRows(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

function sqlite<T>(path: string, use: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path)
  try {
    return use(db)
  } finally {
    db.close()
  }
}

type Place = ReturnType<typeof testPlace>

const inState = ({ state }: Place, name: string) => `sqlite:${join(state, name)}`

const migrate = ({ state }: Place, to: string, env?: Record<string, string>) =>
  runCommandWithState(state, (context) => migrateStorage(context, { to }), env)
const migrateAndUse = ({ state }: Place, to: string) =>
  runCommandWithState(state, (context) => migrateStorage(context, { to, write: true }))
const verify = ({ state }: Place) =>
  runCommandWithState(state, (context) => verifyStored(context, undefined, { deep: true }))

/** Makes a few agent calls on the configured store. */
async function work(place: Place, known?: string): Promise<string> {
  const app = await startTestApp({}, { state: place.state })
  try {
    const added = async () => {
      const answer = await app.call('cowork_add_agent', { id: 'sales' })
      return ((await answer.json()) as { output: { token: string } }).output.token
    }
    const token = known ?? (await added())
    for (let i = 0; i < 3; i++) {
      const action = { agent_id: 'sales', domain: 'crm', action: 'call', target: `deal ${i}` }
      expect((await app.call('cowork_log', action, token)).status).toBe(200)
    }
    expect(
      (await app.call('cowork_halt', { scope: 'domain:crm', force: true, reason: 'x' })).status,
    ).toBe(200)
    expect((await app.call('cowork_resume', { scope: 'domain:crm' })).status).toBe(200)
    return token
  } finally {
    await app.close()
  }
}

test('SV7 a store moved to PostgreSQL and back is the same store, and its ledger verifies', async () => {
  const place = testPlace('# mine\naudit: { max_log_size_mb: 7 } # kept\n')
  await fillState(place.state, 1000)
  const token = await work(place)
  const before = await verify(place)
  const url = await newDatabase()

  const there = await migrateAndUse(place, url)
  expect(there).toMatchObject({ code: 0, entries: before['entries'], root: before['root'] })
  const config = readFileSync(place.paths.config, 'utf8')
  expect(config).toContain('# mine\naudit: { max_log_size_mb: 7 } # kept\n')
  expect(config).toContain(`url: ${url}`)
  expect(await verify(place)).toMatchObject({ code: 0, ok: true, entries: before['entries'] })

  await work(place, token)
  const grown = await verify(place)
  expect(grown).toMatchObject({ code: 0, ok: true })
  expect(grown['entries']).toBeGreaterThan(Number(before['entries']))

  const path = join(place.state, 'back.db')
  const back = await migrateAndUse(place, `sqlite:${path}`)
  expect(back).toMatchObject({ code: 0, entries: grown['entries'], root: grown['root'] })
  expect(await verify(place)).toMatchObject({ code: 0, ok: true, entries: grown['entries'] })
  await work(place, token)
  expect(await verify(place)).toMatchObject({ code: 0, ok: true })

  const followers = 'SELECT name, seq FROM ledger_follower'
  expect(sqlite(path, (db) => db.prepare(followers).all())).toEqual([{ name: 'reader', seq: 500 }])
  expect(await postgresRows(url, 'SELECT count(*)::int AS count FROM ledger_entry')).toEqual([
    { count: grown['entries'] },
  ])
})

test('SV7 the new setting is printed without the password, and written with --write', async () => {
  const place = testPlace()
  await fillState(place.state, 10)
  const before = readFileSync(place.paths.config, 'utf8')
  const [plain, secret, named] = [await newDatabase(), await newDatabase(), await newDatabase()]
  const output = await place.cowork(['storage', 'migrate', '--to', plain])
  expect(output.stdout).toContain(`  url: ${plain}\n`)
  const withPassword = secret.replace('cowork@', 'cowork:hunter2@')
  const hidden = await place.cowork(['storage', 'migrate', '--to', withPassword])
  expect(hidden.code).toBe(0)
  expect(hidden.stdout).toContain('  url: env:DATABASE_URL\n')
  expect(hidden.stdout + hidden.stderr).not.toContain('hunter2')
  expect(await migrate(place, 'env:MY_URL', { MY_URL: named })).toMatchObject({
    code: 0,
    storage: { url: 'env:MY_URL' },
  })
  expect(readFileSync(place.paths.config, 'utf8')).toBe(before)
  expect(await migrate(place, inState(place, 'two.db'))).toMatchObject({
    code: 0,
    storage: { path: join(place.state, 'two.db') },
  })
})

test('SV7 a store is not moved while a daemon runs on any machine', async () => {
  const place = testPlace()
  const other = testPlace()
  await fillState(place.state, 10)
  const app = await startTestApp({}, { state: place.state })
  const url = await newDatabase()
  expect((await migrate(place, url)).error).toMatchObject({ code: 'daemon_running' })
  await app.close()
  expect((await migrateAndUse(place, url)).code).toBe(0)

  writeFileSync(other.paths.config, readFileSync(place.paths.config))
  for (const key of ['ledger.key', 'ledger.pub'])
    writeFileSync(join(other.state, key), readFileSync(join(place.state, key)), { mode: 0o600 })
  const elsewhere = await startTestApp({}, { state: other.state })
  expect((await migrate(place, inState(place, 'x.db'))).error).toMatchObject({
    code: 'daemon_running',
  })
  await elsewhere.close()
  expect((await migrate(place, inState(place, 'x.db'))).code).toBe(0)
})

test('SV7 a target that is in use, missing or invalid is refused and unchanged', async () => {
  const place = testPlace()
  await fillState(place.state, 10)
  const url = await newDatabase()
  await postgresRows(url, 'CREATE TABLE other (a int); INSERT INTO other VALUES (1)')
  expect((await migrate(place, url)).error).toMatchObject({
    code: 'store_not_empty',
    message: 'Target not empty: table other has rows.',
  })
  const tables = `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`
  expect(await postgresRows(url, tables)).toEqual([{ table_name: 'other' }])

  const used = await newDatabase()
  expect((await migrate(place, used)).code).toBe(0)
  expect((await migrate(place, used)).error).toMatchObject({ code: 'store_not_empty' })

  const [, port] = /:(\d+)/.exec(inject('postgresUrl')) ?? []
  for (const [to, code] of [
    ['postgres://cowork@127.0.0.1:1/x', 'store_unavailable'],
    [`postgres://cowork@127.0.0.1:${port}/nowhere`, 'store_unavailable'],
    ['env:NOT_THERE', 'secret_unresolved'],
    ['mysql://x', 'usage'],
    [inState(place, 'cowork.db'), 'usage'],
    [inState(place, 'ledger.key'), 'usage'],
  ])
    expect((await migrate(place, to ?? '')).error?.code, to).toBe(code)
  expect(await verify(place)).toMatchObject({ ok: true, entries: 10 })
})

test('SV7 SV8 a damaged or newer store is not moved', async () => {
  const place = testPlace()
  await fillState(place.state, 20)
  const url = await newDatabase()
  sqlite(place.paths.store, (db) => db.exec('DELETE FROM ledger_payload WHERE seq = 7'))
  expect((await migrate(place, url)).error).toMatchObject({
    code: 'ledger_broken',
    message: 'Ledger verification failed at entry 7: the payload is missing.',
  })
  expect(await postgresRows(url, 'SELECT * FROM ledger_entry')).toEqual([])
  expect((await migrate(place, inState(place, 'x.db'))).error).toMatchObject({
    code: 'ledger_broken',
  })
  sqlite(place.paths.store, (db) => db.exec(`INSERT INTO migration VALUES ('ledger-999', 1)`))
  expect((await migrate(place, url)).error).toMatchObject({ code: 'store_is_newer' })
  expect(readdirSync(place.state).filter((name) => name.startsWith('x.db'))).toEqual([])
})

test('SV8 a store of an older version is moved unchanged and upgraded at the next start', async () => {
  const place = testPlace()
  await fillState(place.state, 20)
  sqlite(place.paths.store, (db) =>
    db.exec(
      `DELETE FROM migration WHERE name IN ('ledger-002', 'ledger-003', 'ledger-004');
       DROP VIEW timeline; DROP VIEW audit_log; DROP VIEW actions`,
    ),
  )
  const url = await newDatabase()
  expect((await migrateAndUse(place, url)).code).toBe(0)
  const applied = `SELECT name FROM migration WHERE name = 'ledger-002'`
  expect(await postgresRows(url, applied)).toEqual([])
  await work(place)
  expect(await postgresRows(url, applied)).toHaveLength(1)
  expect(await postgresRows(url, 'SELECT seq FROM timeline WHERE seq = 7')).toHaveLength(1)
})

test('SV7 after kill -9 during a move the source is intact and a retry succeeds', async () => {
  const place = testPlace()
  await fillState(place.state, 10_000)
  const url = await newDatabase()
  const part = join(place.state, 'x.db.part')
  const isFilling = async () =>
    (
      await postgresRows(
        url,
        `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO "ledger%' AND datname = current_database()`,
      )
    ).length > 0
  for (const [to, isUnderWay] of [
    [url, isFilling],
    [inState(place, 'x.db'), async () => existsSync(`${part}-journal`)],
  ] as const) {
    const child = place.start(['storage', 'migrate', '--to', to])
    await expect.poll(isUnderWay, { timeout: 20_000, interval: 5 }).toBe(true)
    child.kill('SIGKILL')
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
    expect(await verify(place)).toMatchObject({ ok: true, entries: 10_000 })
    expect(await migrate(place, to)).toMatchObject({ code: 0, entries: 10_000 })
  }
  expect(existsSync(part)).toBe(false)
})
