import { expect, inject, test } from 'vitest'
import type { TestContext } from 'vitest'
import { openProxy } from '../../../test/database-line.ts'
import { createTestDatabase } from '../../../test/databases.ts'
import { systemActor } from '../entry.ts'
import { silentLog } from '../log.ts'
import { openPostgres } from './postgres.ts'
import type { Db, Sealer } from './port.ts'

// The tests mostly wait, so they run concurrently.
const quiet: Sealer = { prepare: (draft) => draft, seal: () => Promise.resolve() }
const sql = (text: string) => ({ sql: text, parameters: [] })
const outage = { code: 'store_unavailable', hint: expect.stringMatching(/retry/i) as string }

async function openOver({ onTestFinished }: TestContext, sealer = quiet) {
  const url = await createTestDatabase(inject('postgresUrl'))
  const line = await openProxy(url)
  const db = await openPostgres({ url: line.url, sealer, log: silentLog })
  await db.transact((tx) => tx.run(sql('CREATE TABLE t (a bigint)')))
  onTestFinished(async () => {
    await db.close()
    await line.close()
  })
  return { url, line, db }
}

const add = (db: Db) => db.transact((tx) => tx.run(sql('INSERT INTO t VALUES (1)')))
const rows = async (db: Db) => (await db.all(sql('SELECT a FROM t'))).length

/** Every waiting call is rejected. */
async function refusals(acts: readonly Promise<unknown>[]): Promise<unknown[]> {
  const outcomes = await Promise.allSettled(acts)
  return outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : outcome.value))
}

test.concurrent('N31 A11 the store reports refused PostgreSQL connections and recovers', async (context) => {
  const { line, db } = await openOver(context)
  expect(db.outage()).toBeUndefined()
  line.disconnect()
  await context.expect.poll(() => db.outage(), { timeout: 4000 }).toMatchObject(outage)
  for (const refused of await refusals([add(db), rows(db), db.first(sql('SELECT 1'))]))
    expect(refused).toMatchObject(outage)
  line.restore()
  await context.expect.poll(() => db.outage(), { timeout: 4000 }).toBeUndefined()
  expect(await add(db)).toBe(1)
  expect(await rows(db)).toBe(1)
})

test.concurrent('N31 A11 while packets are lost, calls time out and the store reports the outage', async (context) => {
  const { line, db } = await openOver(context)
  await rows(db)
  line.dropPackets()
  const since = Date.now()
  // More calls than connections, so that some wait for a free one.
  const asked = refusals([add(db), ...Array.from({ length: 12 }, () => rows(db)), add(db)])
  await context.expect.poll(() => db.outage(), { timeout: 4000 }).toMatchObject(outage)
  for (const refused of await asked) expect(refused).toMatchObject(outage)
  for (const refused of await refusals([add(db), rows(db)])) expect(refused).toMatchObject(outage)
  expect(Date.now() - since).toBeLessThan(15_000)
  line.restore()
  await context.expect.poll(() => db.outage(), { timeout: 10_000 }).toBeUndefined()
  expect(await add(db)).toBe(1)
  expect(await rows(db)).toBe(1)
})

test.concurrent('N31 a commit without a reply has an unknown outcome', async (context) => {
  const { line, db } = await openOver(context, {
    ...quiet,
    seal: async () => line.dropPackets(),
  })
  const unknown = db.transact(async (tx) => tx.append({ type: 'a.b', actor: systemActor }))
  await expect(unknown).rejects.toMatchObject({ code: 'outcome_unknown' })
})

test.concurrent('SV8 a statement may take longer than the reply timeout', async (context) => {
  const { db } = await openOver(context)
  const long = sql('SELECT pg_sleep(8)::text')
  const [read, written] = await Promise.all([db.all(long), db.transact((tx) => tx.all(long))])
  expect([read, written]).toEqual([[{ pg_sleep: '' }], [{ pg_sleep: '' }]])
})

test.concurrent('N31 L5 a vanished daemon releases its row locks and the signer lock', async (context) => {
  const { url, line, db } = await openOver(context)
  await add(db)
  expect(await db.isLeader()).toBe(true)
  const other = await openPostgres({ url, sealer: quiet, log: silentLog })
  context.onTestFinished(() => other.close())
  const mine = db.transact(async (tx) => {
    await tx.run(sql('UPDATE t SET a = 2'))
    line.dropPackets()
    await tx.run(sql('UPDATE t SET a = 3'))
  })
  await expect(mine).rejects.toMatchObject(outage)
  expect(await other.transact((tx) => tx.run(sql('UPDATE t SET a = 4')))).toBe(1)
  await context.expect.poll(() => other.isLeader(), { timeout: 20_000, interval: 200 }).toBe(true)
})

test.concurrent('SV7 a connection that the server closes during a body is replaced', async (context) => {
  const { db } = await openOver(context)
  let times = 0
  const ended = await db.transact(async (tx) => {
    times++
    if (times === 1) await tx.all(sql('SELECT pg_terminate_backend(pg_backend_pid())'))
    return tx.run(sql('INSERT INTO t VALUES (1)'))
  })
  expect([ended, times]).toEqual([1, 2])
})

test.concurrent('N31 a write error of the server is not an error of the body', async (context) => {
  const { db } = await openOver(context)
  const refused = db.transact(async (tx) => {
    await tx.all(sql('SET TRANSACTION READ ONLY'))
    await tx.run(sql('INSERT INTO t VALUES (1)'))
  })
  await expect(refused).rejects.toMatchObject({ code: 'store_unavailable' })
})

test.concurrent('SV7 the store closes while packets vanish', async () => {
  const url = await createTestDatabase(inject('postgresUrl'))
  const line = await openProxy(url)
  const db = await openPostgres({ url: line.url, sealer: quiet, log: silentLog })
  await db.first(sql('SELECT 1'))
  line.dropPackets()
  const since = Date.now()
  await db.close()
  expect(Date.now() - since).toBeLessThan(5000)
  await line.close()
})

test.concurrent('N31 opening an unreachable store fails soon', async (context) => {
  const line = await openProxy(await createTestDatabase(inject('postgresUrl')))
  context.onTestFinished(() => line.close())
  line.dropPackets()
  const since = Date.now()
  await expect(openPostgres({ url: line.url, log: silentLog })).rejects.toMatchObject(outage)
  expect(Date.now() - since).toBeLessThan(8000)
})
