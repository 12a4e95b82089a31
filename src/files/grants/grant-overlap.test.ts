import { join } from 'node:path'
import { expect, test } from 'vitest'
import { anna } from '../../../test/acts.ts'
import { sqliteStore } from '../../../test/governed.ts'
import { createWorld } from '../../../test/granted.ts'
import type { Daemon } from '../../../test/granted.ts'

const world = () => createWorld(sqliteStore())
const writing = { permission: 'read-write' }

const statusOf = async (here: Daemon, id: unknown) =>
  (await here.governance.inbox.detail(anna, String(id)))?.status

test('GR3 GR6 a folder that is allowed for writing opens the file it was asked for, whatever grant that had', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { request_id: read } = await here.ask(file, here.sales)
  await here.allow(read, 'file')
  const { grant_id: narrow } = await here.ask(file, here.sales)
  const { request_id: write } = await here.ask(file, here.sales, writing)
  expect(await here.allow(write, 'folder_write')).toMatchObject({ status: 'approved' })
  expect(await here.grants.decideNow(here.sales, file, 'write')).toMatchObject({
    grant: { path: docs },
  })
  expect(await here.ask(file, here.sales, writing)).toMatchObject({
    status: 'granted',
    permission: 'read-write',
    granted_path: docs,
  })
  expect(await here.entries(['grant.revoked'])).toMatchObject([
    { ids: { grant: narrow }, data: { reason: 'replaced' } },
  ])
})

test('GR3 GR6 a request that is answered along with another is open then, too', async () => {
  const { start, docs } = await world()
  const here = await start()
  const work = join(docs, 'Work')
  const plan = join(work, 'plan.md')
  const { id: narrow } = await here.add(work, 'read', { agent: 'sales' })
  const { request_id: below } = await here.ask(plan, here.sales, writing)
  const { request_id: whole } = await here.ask(docs, here.sales, writing)
  expect(await here.allow(whole, 'folder_write')).toMatchObject({ also: [{ id: below }] })
  expect(await here.ask(plan, here.sales, writing)).toMatchObject({ status: 'granted' })
  expect(await here.grants.decideNow(here.sales, plan, 'write')).toMatchObject({
    grant: { path: docs },
  })
  expect(await here.entries(['grant.revoked'])).toMatchObject([
    { ids: { grant: narrow }, data: { reason: 'replaced' } },
  ])
})

test('GR3 a smaller or shorter grant does not replace a larger or permanent one', async () => {
  const { start, docs } = await world()
  const here = await start()
  const work = join(docs, 'Work')
  const { id: box } = await here.add(work, 'write', { agent: 'sales' })
  const { request_id: below } = await here.ask(join(work, 'plan.md'), here.sales)
  const { request_id: whole } = await here.ask(docs, here.sales)
  expect(await here.allow(whole, 'folder_session')).not.toHaveProperty('also')
  expect(await statusOf(here, below)).toBe('pending')
  expect((await here.listed(here.sales)).map(({ id }) => id)).toContain(box)
})

test('GR3 what is allowed until a time takes nothing that was allowed for longer', async () => {
  const { start, docs, now, move } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { request_id: read } = await here.ask(file, here.sales)
  await here.allow(read, 'file')
  const { grant_id: lasting } = await here.ask(file, here.sales)
  const { id: shared } = await here.add(file, 'read')
  const { request_id: write } = await here.ask(file, here.sales, writing)
  const hour = 3_600_000
  const inAnHour = new Date(now() + hour).toISOString()
  await here.allow(write, 'until', inAnHour)
  await here.add(file, 'read-write', { expires_at: inAnHour })
  expect(await here.grants.decideNow(here.sales, file, 'write')).toHaveProperty('grant')
  move(hour)
  await here.grants.cleanUp()
  expect((await here.listed(here.sales)).map(({ id }) => String(id)).toSorted()).toEqual(
    [String(lasting), String(shared)].toSorted(),
  )
  expect(await here.grants.decideNow(here.sales, file, 'read')).toHaveProperty('grant')
})

test('GR1 what is said last counts where it lasts as long', async () => {
  const { start, docs, now } = await world()
  const here = await start()
  const at = (hours: number) => ({
    expires_at: new Date(now() + hours * 3_600_000).toISOString(),
  })
  await here.add(docs, 'read-write', at(1))
  const { id: longer } = await here.add(docs, 'read-write', at(2))
  expect(await here.listed(anna)).toMatchObject([{ id: longer }])
  await here.add(docs, 'read-write')
  const { id: less } = await here.add(docs, 'read')
  expect(await here.listed(anna)).toMatchObject([{ id: less, permission: 'read' }])
})

test('GR3 GR6 what all agents have of a file is not taken from them for one: the person is told', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { id: shared } = await here.add(file, 'read')
  const { request_id: write } = await here.ask(file, here.sales, writing)
  expect(await here.allow(write, 'folder_write')).toMatchObject({
    error: { code: 'narrower_grant', hint: expect.stringContaining(String(shared)) },
  })
  expect(await here.allow(write, 'folder')).toMatchObject({ status: 'approved' })
  expect(await here.ask(file, here.sales, writing)).toMatchObject({
    status: 'granted',
    permission: 'read',
  })
})

test('GR3 a denial of the file itself outlives what is allowed of its folder', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { request_id: read } = await here.ask(file, here.sales)
  const { request_id: whole } = await here.ask(docs, here.sales, writing)
  await here.decide(read, { decision: 'reject', grant: { choice: 'deny_always' } })
  expect(await here.allow(whole, 'folder_write')).toMatchObject({ status: 'approved' })
  expect(await here.ask(file, here.sales)).toMatchObject({ status: 'denied' })
})

test('GR3 granted is said only while it is so', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { request_id: id } = await here.ask(file, here.sales, writing)
  await here.allow(id, 'folder_write')
  expect(await here.ask(file, here.sales, writing)).toMatchObject({ status: 'granted' })
  await here.add(file, 'read', { agent: 'sales' })
  const again = await here.ask(file, here.sales, writing)
  expect(again).toMatchObject({ status: 'pending' })
  expect(again['request_id']).not.toBe(id)
})

test('GR3 GR6 a permanent denial decides the pending requests below its path, for that agent only', async () => {
  const { start, docs } = await world()
  const here = await start()
  const support = await here.agent('support')
  const file = join(docs, 'report.txt')
  const { request_id: below } = await here.ask(file, here.sales)
  const { request_id: same } = await here.ask(docs, here.sales, writing)
  const { request_id: beside } = await here.ask(join(docs, '..', 'Music'), here.sales)
  const { request_id: theirs } = await here.ask(file, support)
  const { request_id: whole } = await here.ask(docs, here.sales)
  const reason = 'ask for one client'
  const denied = await here.decide(whole, {
    decision: 'reject',
    reason,
    grant: { choice: 'deny_always' },
    override: { type: 'agent_wrong', severity: 'high' },
  })
  expect((denied['also'] as { id: string }[]).map(({ id }) => id).toSorted()).toEqual(
    [String(below), String(same)].toSorted(),
  )
  expect(await here.governance.inbox.detail(anna, String(below))).toMatchObject({
    status: 'rejected',
    reason,
  })
  for (const id of [beside, theirs]) expect(await statusOf(here, id)).toBe('pending')
  // Said once, it costs trust once.
  const [, ...others] = (await here.entries(['approval.rejected'])).toReversed()
  for (const { data } of others) expect(data).not.toHaveProperty('trust')
})

test('C2 requests to read and to write are not taken for the same', async () => {
  const { start, docs } = await world()
  const here = await start()
  const groupOf = async (name: string, more?: object) => {
    const { request_id: id } = await here.ask(join(docs, name), here.sales, more)
    return (await here.governance.inbox.detail(anna, String(id)))?.group
  }
  const reading = await groupOf('report.txt')
  expect(await groupOf('credentials.json')).toBe(reading)
  expect(await groupOf('report.txt', writing)).not.toBe(reading)
})
