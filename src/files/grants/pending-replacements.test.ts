import { linkSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Caller } from '#base/caller.ts'
import { anna } from '../../../test/acts.ts'
import { sqliteStore } from '../../../test/governed.ts'
import { createWorld } from '../../../test/granted.ts'
import type { Daemon } from '../../../test/granted.ts'
import type { AccessKind } from '../model.ts'
import { pinPath } from './pin.ts'

async function world() {
  const { start, docs } = await createWorld(sqliteStore())
  return { docs, file: join(docs, 'report.txt'), here: await start() }
}

/** As the worker saves, and as editors do. */
function replace(file: string): void {
  writeFileSync(`${file}~`, 'new')
  renameSync(`${file}~`, file)
}

async function inodeAt(path: string) {
  const { dev = '', ino = '' } = (await pinPath(path)) ?? {}
  return { dev, ino }
}

/** A call of another replaces the file. The row that says so comes when it is told to, or never. */
async function replacing(
  { grants, db }: Daemon,
  folder: string,
  file: string,
  act = () => replace(file),
) {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  grants.trackReplacement(folder, promise)
  const from = await inodeAt(file)
  act()
  const to = await inodeAt(file)
  return {
    async settle(): Promise<void> {
      const swap = { path: file, from, to }
      const settled = db.transact((tx) => grants.repin(tx, swap, { id: 'call-1', caller: anna }))
      resolve()
      await settled
    },
    fail: () => reject(new Error('it was not done')),
  }
}

/** Everything that does not wait for the change has happened by then. */
async function isWaiting(asked: Promise<unknown>): Promise<boolean> {
  const seen = asked.then(() => 'answered')
  for (let turn = 0; turn < 200; turn++)
    if ((await Promise.race([seen, setImmediate('waiting')])) === 'answered') return false
  return true
}

test('GR6 PV9 a grant whose file a call has just replaced decides as ever, once the row of that stands', async () => {
  const { here, docs, file } = await world()
  await here.add(docs, 'read', { agent: 'sales' })
  const { id } = await here.add(file, 'read-write', { agent: 'sales' })
  const change = await replacing(here, docs, file)
  const decided = here.grants.decideNow(here.sales, file, 'write')
  const checked = here.check(file, here.sales)
  expect(await isWaiting(Promise.race([decided, checked]))).toBe(true)
  await change.settle()
  expect(await decided).toMatchObject({ grant: { id, ...(await inodeAt(file)) } })
  expect(await checked).toMatchObject({ permission: 'read-write', grant_id: id })
  // Two calls replace the file, one after the other.
  const second = await replacing(here, docs, file)
  const again = here.grants.decideNow(here.sales, file, 'write')
  const third = second.settle().then(() => replacing(here, docs, file))
  await (await third).settle()
  expect(await again).toMatchObject({ grant: { id } })
})

test('GR6 PV9 a grant decides as ever where the numbers of files come back', async () => {
  const { here, docs, file } = await world()
  await here.add(docs, 'read', { agent: 'sales' })
  const { id } = await here.add(file, 'read-write', { agent: 'sales' })
  linkSync(file, `${file}.first`)
  const first = await replacing(here, docs, file)
  const decided = here.grants.decideNow(here.sales, file, 'read')
  expect(await isWaiting(decided)).toBe(true)
  const second = await replacing(here, docs, file, () => renameSync(`${file}.first`, file))
  await Promise.all([first.settle(), second.settle()])
  expect(await decided).toMatchObject({ grant: { id } })
})

test('GR2 PV9 what a call has just replaced is listed and searched as what it is', async () => {
  const { here, docs, file } = await world()
  const work = join(docs, 'Work')
  await here.add(work, 'read', { agent: 'sales' })
  const { id } = await here.add(file, 'read', { agent: 'sales' })
  const change = await replacing(here, docs, file)
  const listed = here.listed(here.sales)
  const searched = here.grants.filterInPlace(here.grants.listActive())
  expect(await isWaiting(Promise.race([listed, searched]))).toBe(true)
  await change.settle()
  expect((await listed).filter(({ replaced }) => replaced)).toEqual([])
  expect((await searched).map((grant) => grant.id)).toContain(id)
})

test('GR2 PV9 nobody is asked for access that an agent has, while a call replaces the file', async () => {
  const { here, docs, file } = await world()
  const { id } = await here.add(file, 'read', { agent: 'sales' })
  const change = await replacing(here, docs, file)
  const asked = here.ask(file, here.sales)
  expect(await isWaiting(asked)).toBe(true)
  await change.settle()
  expect(await asked).toMatchObject({ status: 'granted', grant_id: id })
})

test('GR6 PV9 a grant that is made while a call replaces the file ends nobody’s', async () => {
  const { here, docs, file } = await world()
  const { id } = await here.add(file, 'read-write', { agent: 'sales' })
  const change = await replacing(here, docs, file)
  const added = here.add(file, 'read', { agent: 'support' })
  expect(await isWaiting(added)).toBe(true)
  await change.settle()
  await added
  expect((await here.listed(anna)).map((one) => [one['agent'], one['replaced']])).toEqual(
    expect.arrayContaining([
      ['sales', undefined],
      ['support', undefined],
    ]),
  )
  expect((await here.grants.list()).map((grant) => grant.id)).toContain(id)
})

test('PV9 what nobody here replaced is dead all the same, also where a call fails or is about another file', async () => {
  const { here, docs, file } = await world()
  const plan = join(docs, 'Work', 'plan.md')
  const { id: folder } = await here.add(docs, 'read', { agent: 'sales' })
  await here.add(file, 'read', { agent: 'sales' })
  const other = await replacing(here, docs, plan)
  const failing = await replacing(here, docs, file)
  const decided = here.grants.decideNow(here.sales, file, 'read')
  failing.fail()
  await other.settle()
  expect(await decided).toMatchObject({ grant: { id: folder } })
  expect(await here.grants.decideNow(here.sales, file, 'read')).toMatchObject({
    grant: { id: folder },
  })
})

test('GR4 what is denied while a decision waits for a change counts', async () => {
  const { here, docs, file } = await world()
  await here.add(docs, 'read', { agent: 'sales' })
  await here.add(file, 'read', { agent: 'sales' })
  const change = await replacing(here, docs, file)
  const decided = here.grants.decideNow(here.sales, file, 'read')
  await setImmediate()
  const asked = here.ask(join(docs, '..'), here.sales)
  await here.decide((await asked)['request_id'], {
    decision: 'reject',
    grant: { choice: 'deny_always' },
  })
  await change.settle()
  expect(await decided).toMatchObject({ code: 'no_grant', denied: {} })
})

test('GR6 a decision does not wait for changes if one grant decides or the file was not replaced', async () => {
  const { here, docs, file } = await world()
  const plan = join(docs, 'Work', 'plan.md')
  await here.add(docs, 'read-write', { agent: 'sales' })
  await here.add(file, 'read', { agent: 'sales' })
  await here.add(file, 'read', { agent: 'support' })
  const support: Caller = await here.agent('support')
  const under = Promise.withResolvers<void>()
  here.grants.trackReplacement(docs, under.promise)
  const decided = (by: Caller, path: string, need: AccessKind) =>
    here.grants.decideNow(by, path, need)
  expect(await decided(here.sales, plan, 'write')).toHaveProperty('grant')
  expect(await decided(here.sales, file, 'read')).toHaveProperty('grant')
  replace(file)
  expect(await decided(support, file, 'read')).toHaveProperty('grant')
  under.resolve()
})

test('GR3 GR4 what was just decided is listed, and ends with its session, before the worker knows of it', async () => {
  const { here, docs } = await world()
  const release = Promise.withResolvers<void>()
  const unfollow = here.grants.onChange(() => release.promise)
  const { request_id: id } = await here.ask(docs, here.sales)
  await here.allow(id, 'folder_session')
  const listed = here.listed(here.sales)
  expect(await isWaiting(listed)).toBe(true)
  here.identity.sessions.endConnection('sales-1')
  release.resolve()
  unfollow()
  expect(await listed).toMatchObject([{ path: docs }])
  await expect.poll(() => here.grants.list()).toEqual([])
  expect(await here.entries(['grant.revoked'])).toMatchObject([
    { data: { reason: 'session_ended' } },
  ])
})
