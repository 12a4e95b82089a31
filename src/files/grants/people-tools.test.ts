import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { anna } from '../../../test/acts.ts'
import { sqliteStore } from '../../../test/governed.ts'
import { createWorld } from '../../../test/granted.ts'

const world = () => createWorld(sqliteStore())

test('GR4 agents list what they can use; people all there is', async () => {
  const { start, docs } = await world()
  const here = await start()
  await here.add(docs, 'read', { agent: 'support' })
  const forAll = await here.add(join(docs, 'Work'), 'write')
  expect(await here.listed(here.sales)).toEqual([forAll])
  expect(await here.listed(anna)).toHaveLength(2)
})

test('GR9 write comes from people, for folders', async () => {
  const { start, docs } = await world()
  const here = await start()
  expect(await here.ask(docs, here.sales, { permission: 'write' })).toMatchObject({
    fault: 'invalid_input',
  })
  expect(await here.add(join(docs, 'report.txt'), 'write')).toMatchObject({
    fault: 'invalid_input',
  })
  await here.add(docs, 'write')
  expect(await here.check(join(docs, 'new.txt'), here.sales)).toMatchObject({
    has_access: true,
    permission: 'write',
  })
  expect(here.grants.decide(here.sales, join(docs, 'report.txt'), 'read')).toEqual({
    code: 'no_grant',
  })
})

test('GR10 what cannot be granted is refused with the reason', async () => {
  const { start, docs, home, workspace } = await world()
  const here = await start()
  expect(await here.add(join(docs, 'none'))).toMatchObject({ fault: 'not_found' })
  expect(await here.add(join(home, '.ssh'))).toMatchObject({ fault: 'forbidden_path' })
  expect(await here.add(workspace)).toMatchObject({ fault: 'invalid_path' })
  mkdirSync(join(workspace, 'temp'))
  symlinkSync(workspace, join(home, 'shortcut'))
  for (const path of ['~/shortcut', '~/shortcut/temp'])
    expect(await here.add(path)).toMatchObject({ fault: 'invalid_path' })
  expect(await here.add(docs, 'read', { expires_at: '2020-01-01T00:00:00Z' })).toMatchObject({
    fault: 'invalid_input',
  })
  const { request_id: id } = await here.ask(docs, here.sales)
  await here.decide(id, { decision: 'reject', grant: { choice: 'deny_always' } })
  expect(await here.add(join(docs, 'Work'), 'read', { agent: 'sales' })).toMatchObject({
    fault: 'denied_above',
  })
})

test('GR10 where agents are known, nothing is granted to a name that none of them has', async () => {
  const { start, docs } = await world()
  const here = await start()
  expect(await here.add(docs, 'read', { agent: 'anybody' })).toMatchObject({ agent: 'anybody' })
  const by = { id: 'call-1', caller: anna }
  await here.db.transact((tx) => here.identity.addAgent(tx, { id: 'writer' }, by))
  expect(await here.add(docs, 'read', { agent: 'wrtier' })).toMatchObject({
    fault: 'not_found',
    hint: expect.stringContaining('cowork agents ls'),
  })
  expect(await here.add(docs, 'read', { agent: 'writer' })).toMatchObject({ agent: 'writer' })
  expect(await here.add(docs)).toMatchObject({ agent: '*' })
})

test('GR4 who follows learns of new grants before they are used, and of ended ones by their ids', async () => {
  const { start, docs } = await world()
  const here = await start()
  const seen: { active: string[]; ended: readonly string[]; isUsable: boolean }[] = []
  here.grants.onChange(async ({ active, ended }) => {
    const { grant } = here.grants.decide(here.sales, docs, 'read')
    seen.push({ active: active.map(({ path }) => path), ended, isUsable: grant !== undefined })
  })
  const { id } = await here.add(docs)
  await here.revoke(id)
  expect(seen).toEqual([
    { active: [docs], ended: [], isUsable: false },
    { active: [], ended: [id], isUsable: false },
  ])
})

test('GR4 a revocation counts and is told at once, whatever an earlier announcement still waits for', async () => {
  const { start, docs } = await world()
  const here = await start()
  const { id } = await here.add(docs)
  const work = join(docs, 'Work')
  const started = Promise.withResolvers<void>()
  const endedIds: string[] = []
  here.grants.onChange(async ({ ended }) => {
    endedIds.push(...ended)
    // A worker that is slow to start.
    if (ended.length === 0) await started.promise
  })
  const adding = here.add(work, 'read-write')
  await expect.poll(() => here.grants.list()).toHaveLength(2)
  const revoking = here.revoke(id)
  await expect.poll(() => here.grants.decide(here.sales, docs, 'read').grant).toBeUndefined()
  await expect.poll(() => endedIds).toEqual([id])
  // The new one is still not there for everyone.
  expect(here.grants.decide(here.sales, work, 'write').grant).toBeUndefined()
  started.resolve()
  const added = await adding
  expect(await revoking).toMatchObject({ success: true })
  expect(here.grants.listActive()).toMatchObject([{ id: added['id'] }])
})

test('GR4 what was revoked before everyone knew of it never counts', async () => {
  const { start, docs } = await world()
  const here = await start()
  const started = Promise.withResolvers<void>()
  here.grants.onChange(({ ended }) => (ended.length === 0 ? started.promise : undefined))
  const adding = here.add(docs)
  await expect.poll(() => here.grants.list()).toHaveLength(1)
  const [grant] = await here.grants.list()
  const revoking = here.revoke(grant?.id)
  await expect.poll(() => here.grants.list()).toEqual([])
  started.resolve()
  await Promise.all([adding, revoking])
  expect(here.grants.listActive()).toEqual([])
})

test('GR10 people browse their disk to pick from it', async () => {
  const { start, docs, home } = await world()
  const here = await start()
  symlinkSync('/etc', join(home, 'link'))
  writeFileSync(join(home, 'a.txt'), '')
  expect(await here.call('browse_folder', { path: '~' }, anna)).toEqual({
    path: home,
    parent: join(home, '..'),
    capped: false,
    entries: [
      { name: '.ssh/', type: 'directory', forbidden: true },
      { name: 'AI/', type: 'directory' },
      { name: 'Documents/', type: 'directory' },
      { name: 'a.txt', type: 'file' },
    ],
  })
  const notThere = { path: join(docs, 'report.txt') }
  expect(await here.call('browse_folder', notThere, anna)).toMatchObject({
    fault: 'not_a_folder',
  })
})

test('GR5 for a session that is over nothing is allowed that would end with it', async () => {
  const { start, docs } = await world()
  const here = await start()
  const { request_id: id } = await here.ask(docs, here.sales)
  here.identity.sessions.endConnection('sales-1')
  expect(await here.allow(id, 'folder_session')).toMatchObject({
    error: { code: 'session_ended' },
  })
  expect(await here.allow(id, 'folder')).toMatchObject({ status: 'approved' })
})

test('GR9 default_scope is for grants that name none', async () => {
  const { start, docs } = await world()
  const here = await start({ 'grants.default_scope': 'session' })
  expect(await here.add(docs)).toMatchObject({ scope: 'session' })
  expect(await here.add(docs, 'read', { scope: 'permanent' })).toMatchObject({
    scope: 'permanent',
  })
})

test('GR3 GR5 a grant for one session does not hold in another', async () => {
  const { start, docs } = await world()
  const here = await start()
  const { request_id: id } = await here.ask(docs, here.sales)
  await here.allow(id, 'folder_session')
  expect(await here.ask(docs, here.sales)).toMatchObject({ status: 'granted' })
  const later = await here.ask(docs, await here.agent('sales', 'sales-2'))
  expect(later).toMatchObject({ status: 'pending' })
  expect(later['request_id']).not.toBe(id)
})
