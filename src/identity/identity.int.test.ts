import { expect, inject, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../test/databases.ts'
import { migrate } from '#base/db/migrate.ts'
import { openPostgres } from '#base/db/postgres.ts'
import { silentLog } from '#base/log.ts'
import { atMcp, createRecord, refusal, setup } from '../../test/identity/identity.fixture.ts'
import { identityMigrations } from './migrations.ts'
import { selectionContract } from '../../test/identity/selection.contract.ts'

selectionContract('postgres', async () => {
  const url = await createTestDatabase(inject('postgresUrl'))
  const db = await openPostgres({ url, sealer: createRecord().sealer, log: silentLog })
  onTestFinished(() => db.close())
  await migrate(db, identityMigrations, 0)
  return { db }
})

/** Two daemons on one PostgreSQL, each refreshed after the other's commits like by the ledger's follower. */
async function twoDaemons() {
  const url = await createTestDatabase(inject('postgresUrl'))
  const open = async () => {
    const db = await openPostgres({ url, sealer: createRecord().sealer, log: silentLog })
    await migrate(db, identityMigrations, 0)
    const daemon = await setup({ db })
    // The last refresh may run during close.
    const refresh = () => void daemon.identity.refresh().catch(() => undefined)
    const unfollow = db.onAppend(refresh)
    onTestFinished(async () => {
      unfollow()
      await db.close()
    })
    return daemon
  }
  return [await open(), await open()] as const
}

test('SV7 a change of agents reaches the other daemon without a restart', async () => {
  const [one, other] = await twoDaemons()
  expect(other.identity.mode()).toBe('open')
  const { token, auth_enabled } = await one.add('sales', ['read:*'], { tools: ['files'] })
  expect(auth_enabled).toBe(true)
  expect(await one.identity.identify({ ...atMcp, bearer: token })).toMatchObject({ id: 'sales' })
  await expect.poll(() => other.identity.mode()).toBe('closed')
  expect(await other.identity.identify({ ...atMcp, bearer: token })).toMatchObject({
    id: 'sales',
    scopes: ['read:*'],
    selection: { tools: ['files'] },
  })
  await one.setTools('sales', { read_only: true })
  await expect
    .poll(async () => (await other.identity.identify({ ...atMcp, bearer: token })).selection)
    .toEqual({ tools: ['files'], readOnly: true })
  expect(await refusal(other.add('sales'))).toMatchObject({ code: 'agent_exists' })

  const fresh = await other.rotate('sales', 0)
  await expect
    .poll(() => one.identity.getPrincipal({ ...atMcp, bearer: fresh.token }).catch(() => undefined))
    .toBe('agent:sales')
  await other.revoke('sales')
  await expect.poll(async () => (await one.list()).map(({ status }) => status)).toEqual(['revoked'])
  expect(await refusal(one.identity.identify({ ...atMcp, bearer: fresh.token }))).toMatchObject({
    code: 'auth_error',
  })
  expect(await one.add('sales')).toMatchObject({ auth_enabled: false })
})

test("SV18 concurrent changes of an agent's tools by two daemons are both kept", async () => {
  const [one, other] = await twoDaemons()
  await one.add('sales')
  const exclude = ['delete_file']
  for (let round = 0; round < 20; round += 1) {
    await one.setTools('sales', { exclude: [], read_only: false })
    await Promise.all([
      one.setTools('sales', { exclude }),
      other.setTools('sales', { read_only: true }),
    ])
    await one.identity.refresh()
    expect(await one.list()).toMatchObject([{ exclude, read_only: true }])
  }
})

test('I4 I7 an agent of another daemon’s environment does not count as removed', async () => {
  const [one] = await twoDaemons()
  await one.add('sales')
  const later = one.time.now()
  const hasGone = (id: string) => one.identity.isRemoved(one.db, id, later)
  // This daemon does not know the agent, so its pending call cannot continue here.
  expect(await hasGone('elsewhere')).toBe(false)
  expect(await one.identity.isSameAgent(one.db, 'elsewhere', later)).toBe(false)
  expect(await hasGone('sales')).toBe(false)
  await one.revoke('sales')
  expect(await hasGone('sales')).toBe(true)
})
