import { expect, inject, test } from 'vitest'
import { startPostgres } from '../../../test/postgres-server.ts'
import { createTestDatabase } from '../../../test/databases.ts'
import { systemActor } from '../entry.ts'
import { silentLog } from '../log.ts'
import { storeContract } from '../../../test/base/db/db.contract.ts'
import { openPostgres } from './postgres.ts'
import type { Sealer } from './port.ts'

const url = await createTestDatabase(inject('postgresUrl'))
storeContract('postgres', (sealer) => openPostgres({ url, sealer, log: silentLog }))

const quiet: Sealer = { prepare: (draft) => draft, seal: () => Promise.resolve() }

test('L11 a commit in one daemon wakes the followers of another', async () => {
  const one = await openPostgres({ url, sealer: quiet, log: silentLog })
  const other = await openPostgres({ url, sealer: quiet, log: silentLog })
  let notified = 0
  other.onAppend(() => notified++)
  await one.transact(async (tx) => tx.append({ type: 'a.b', actor: systemActor }))
  await expect.poll(() => notified).toBe(1)
  await one.close()
  await other.close()
})

test('L5 one of several daemons is the signer, and another takes over', async () => {
  const one = await openPostgres({ url, log: silentLog })
  const other = await openPostgres({ url, log: silentLog })
  expect([await one.isLeader(), await other.isLeader()]).toEqual([true, false])
  await one.close()
  await expect.poll(() => other.isLeader()).toBe(true)
  await other.close()
})

test('SV7 the store survives a restart of PostgreSQL', async () => {
  const server = await startPostgres()
  try {
    const db = await openPostgres({
      url: await server.createDatabase('restarted'),
      sealer: quiet,
      log: silentLog,
    })
    await db.transact((tx) => tx.run({ sql: 'CREATE TABLE t (a bigint)', parameters: [] }))
    await server.restart()
    const insert = { sql: 'INSERT INTO t VALUES (1)', parameters: [] }
    // The write fails on the closed connection before a commit, so it is retried on a new one.
    expect(await db.transact((tx) => tx.run(insert))).toBe(1)
    const other = await openPostgres({
      url: `${server.url}/restarted`,
      sealer: quiet,
      log: silentLog,
    })
    let notified = 0
    db.onAppend(() => notified++)
    await other.transact(async (tx) => tx.append({ type: 'a.b', actor: systemActor }))
    await expect.poll(() => notified, { timeout: 5000 }).toBeGreaterThan(0)
    await other.close()
    expect(await db.all({ sql: 'SELECT a FROM t', parameters: [] })).toHaveLength(1)
    await db.close()
  } finally {
    await server.stop()
  }
})
