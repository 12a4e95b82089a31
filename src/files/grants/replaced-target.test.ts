import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Caller } from '#base/caller.ts'
import { anna } from '../../../test/acts.ts'
import { sqliteStore } from '../../../test/governed.ts'
import { createWorld } from '../../../test/granted.ts'
import { mountSmallDisk } from '../../../test/small-disk.ts'
import { createGrantStore } from '../grant-store.ts'
import type { Grant, AccessKind } from '../model.ts'
import type { Pin } from '../rules/choices.ts'
import type { Inode } from '../worker/protocol.ts'
import { createGrantWriter } from './grant-writer.ts'
import { isStillAtPath, pinPath } from './pin.ts'

const world = () => createWorld(sqliteStore())

/** As many editors save: another file takes the name. */
function replace(file: string): void {
  writeFileSync(`${file}~`, 'new')
  renameSync(`${file}~`, file)
}

function replaceFolder(folder: string): void {
  renameSync(folder, `${folder}-old`)
  mkdirSync(folder)
}

test('PV9 GR3 a replaced granted file needs a new request, and the new grant ends the stale one', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { id: dead } = await here.add(file, 'read', { agent: 'sales' })
  expect(await here.ask(file, here.sales)).toMatchObject({ status: 'granted', grant_id: dead })
  replace(file)
  const asked = await here.ask(file, here.sales)
  expect(asked).toMatchObject({ status: 'pending' })
  await here.decide(asked['request_id'])
  const { grant_id: made } = await here.ask(file, here.sales)
  const listed = await here.listed(here.sales)
  expect(listed).toMatchObject([{ id: made, path: file, scope: 'session' }])
  expect(listed[0]).not.toHaveProperty('replaced')
  const { ino } = (await pinPath(file)) ?? {}
  expect(here.grants.decide(here.sales, file, 'read').grant).toMatchObject({ ino })
  expect(await here.entries(['grant.revoked'])).toMatchObject([
    { ids: { grant: dead }, data: { reason: 'replaced' } },
  ])
})

test('PV9 GR3 a folder granted by request and replaced since needs a new request', async () => {
  const { start, docs } = await world()
  const here = await start()
  const work = join(docs, 'Work')
  const { request_id: first } = await here.ask(work, here.sales)
  await here.allow(first, 'folder')
  replaceFolder(work)
  const asked = await here.ask(work, here.sales)
  expect(asked).toMatchObject({ status: 'pending' })
  expect(asked['request_id']).not.toBe(first)
  expect(await here.ask(join(work, 'plan.md'), here.sales)).toMatchObject({ status: 'pending' })
})

test('PV9 GR3 what was replaced while its request waited is allowed once the person knows', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { request_id: id } = await here.ask(file, here.sales)
  for (const [at] of [1, 2].entries()) {
    renameSync(file, `${file}.${at}`)
    replace(file)
    expect(await here.allow(id, 'file')).toMatchObject({ error: { code: 'stale' } })
    expect(await here.grants.list()).toEqual([])
  }
  expect(await here.ask(file, here.sales)).toMatchObject({ status: 'pending', request_id: id })
  expect(await here.allow(id, 'file')).toMatchObject({ status: 'approved' })
  expect(await here.ask(file, here.sales)).toMatchObject({ status: 'granted' })
  const { ino } = (await pinPath(file)) ?? {}
  expect(here.grants.decide(here.sales, file, 'read').grant).toMatchObject({ ino })
})

/** Many disks give the number of what has gone to what comes next; births differ by a tick of the clock at least. */
async function remove(path: string): Promise<void> {
  await setTimeout(20)
  rmSync(path, { recursive: true })
}

const remade = [
  ['a file', 'report.txt', (path: string) => writeFileSync(path, 'never asked for')],
  ['a folder', 'Work', (path: string) => mkdirSync(path)],
] as const

test.each(remade)(
  'PV9 GR3 %s removed and recreated while its request was pending is a different target',
  async (_, name, make) => {
    const { start, docs } = await world()
    const here = await start()
    const path = join(docs, name)
    const { request_id: id } = await here.ask(path, here.sales)
    for (const _again of [1, 2]) {
      await remove(path)
      make(path)
      expect(await here.decide(id)).toMatchObject({ error: { code: 'stale' } })
    }
    expect(await here.decide(id)).toMatchObject({ status: 'approved' })
    expect(await here.check(path, here.sales)).toMatchObject({ has_access: true })
  },
)

test('PV9 what is there is known by its kind, and by its birth where both are known', async () => {
  const { docs } = await world()
  const pin = (await pinPath(join(docs, 'report.txt'))) as Pin
  expect(await isStillAtPath(pin)).toBe(true)
  expect(await isStillAtPath({ ...pin, kind: 'folder' })).toBe(false)
  expect(await isStillAtPath({ ...pin, born: '1' })).toBe(pin.born === null)
  expect(await isStillAtPath({ ...pin, born: null })).toBe(true)
})

test('PV9 GR3 a link in the place of what was asked for is nothing that can be allowed', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { request_id: id } = await here.ask(file, here.sales)
  rmSync(file)
  symlinkSync(join(docs, 'credentials.json'), file)
  for (const _ of [1, 2])
    expect(await here.allow(id, 'file')).toMatchObject({ error: { code: 'stale' } })
})

test.each(remade)(
  'PV9 %s removed and recreated while no daemon ran is not granted',
  async (_, name, make) => {
    const { start, docs } = await world()
    const before = await start()
    const path = join(docs, name)
    await before.add(path)
    await before.stop()
    await remove(path)
    make(path)
    const here = await start()
    expect(await here.check(path, here.sales)).toMatchObject({ has_access: false })
    expect(await here.listed(anna)).toMatchObject([{ path, replaced: true }])
    expect(await here.ask(path, here.sales)).toMatchObject({ status: 'pending' })
  },
)

test.each([0, 600_000])(
  'PV9 GR3 a file that cowork replaced while its request was pending stays the same target, even if the agent was added by a clock %d ms ahead',
  async (ahead) => {
    const { start, docs, now } = await world()
    const here = await start()
    const file = join(docs, 'report.txt')
    const sales = { ...here.sales, since: now() + ahead }
    const { request_id: id } = await here.ask(file, sales)
    const call = { id: 'call_1', caller: sales }
    for (const _ of [1, 2, 3]) {
      const from = (await pinPath(file)) as Inode
      replace(file)
      const to = (await pinPath(file)) as Inode
      await here.db.transact((tx) => here.grants.repin(tx, { path: file, from, to }, call))
    }
    expect(await here.allow(id, 'file')).toMatchObject({ status: 'approved' })
    expect(await here.check(file, here.sales)).toMatchObject({ has_access: true })
  },
)

test('PV9 what is known without its birth is known without it, too, after cowork put another there', async () => {
  const { start, docs, now } = await world()
  const { db, sales } = await start()
  const store = createGrantStore(db.dialect)
  const nothing = () => undefined
  const memory = { invalidate: nothing, invalidateRepinned: nothing, getCurrent: nothing }
  const changes = createGrantWriter({ ...memory, store, node: 'here', now })
  const path = join(docs, 'report.txt')
  const file = (ino: string) => ({ dev: '1', ino, born: `9${ino}` })
  const call = { id: 'call_1', caller: sales }
  await db.transact(async (tx) => {
    await changes.repin(tx, { path, from: file('1'), to: file('2') }, call)
    await changes.repin(tx, { path, from: file('2'), to: file('3') }, call)
  })
  const latestInode = (pin: Inode) => changes.latestInode(path, pin, 0)
  expect(latestInode(file('1'))).toEqual(file('3'))
  expect(latestInode({ ...file('1'), born: null })).toEqual({ ...file('3'), born: null })
})

test('PV9 GR3 who was not told that it was replaced does not allow it', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { request_id: id } = await here.ask(file, here.sales)
  replace(file)
  expect(await here.allow(id, 'file')).toMatchObject({ error: { code: 'stale' } })
  const berta = { ...anna, id: 'berta' }
  const decided = await here.call(
    'cowork_decide',
    { approval_ids: [id], decision: 'approve', grant: { choice: 'file' } },
    berta,
  )
  expect(decided).toMatchObject({ outcomes: [{ error: { code: 'stale' } }] })
})

test('PV9 GR3 of what is gone or of another kind by now, the folder alone can be allowed', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { request_id: id } = await here.ask(file, here.sales)
  renameSync(file, `${file}.away`)
  for (const change of [() => undefined, () => mkdirSync(file)]) {
    change()
    for (const _ of [1, 2])
      expect(await here.allow(id, 'file')).toMatchObject({ error: { code: 'stale' } })
  }
  expect(await here.allow(id, 'folder')).toMatchObject({ status: 'approved' })
})

test('PV9 GR6 where the folder is allowed instead, the dead grant of its file is not in the way', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  await here.add(file, 'read')
  replace(file)
  const { request_id: read } = await here.ask(file, here.sales)
  const { request_id: write } = await here.ask(file, here.sales, { permission: 'read-write' })
  expect(await here.allow(write, 'folder_write')).toMatchObject({ status: 'approved' })
  expect(await here.ask(file, here.sales)).toMatchObject({ status: 'granted', granted_path: docs })
  expect(await here.governance.inbox.detail(anna, String(read))).toMatchObject({
    status: 'approved',
  })
  expect(here.grants.decide(here.sales, file, 'write').grant).toMatchObject({ path: docs })
})

test('PV9 GR6 a dead grant lets a wider one through, and to no more than itself allowed', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { id: folder } = await here.add(docs, 'read-write', { agent: 'sales' })
  await here.add(file, 'read', { agent: 'sales' })
  const decided = (by: Caller, need: AccessKind) => here.grants.decideNow(by, file, need)
  expect(await decided(here.sales, 'write')).toEqual({ code: 'read_only_grant' })
  replace(file)
  for (const by of [here.sales, anna])
    expect(await decided(by, 'read')).toMatchObject({ grant: { id: folder } })
  expect(await decided(here.sales, 'write')).toEqual({ code: 'read_only_grant' })
  expect(await decided(anna, 'write')).toMatchObject({ grant: { id: folder } })
  const whole = here.grants.listActive().find(({ id }) => id === folder) as Grant
  expect(here.grants.listClosedBelow(here.sales, whole, 'read')).toEqual([])
  expect(here.grants.listClosedBelow(here.sales, whole, 'write')).toEqual(['report.txt'])
  expect(await here.check(file, here.sales)).toMatchObject({
    has_access: true,
    permission: 'read',
    grant_id: folder,
  })
  const writing = { permission: 'read-write' }
  const { request_id: id, status } = await here.ask(file, here.sales, writing)
  expect(status).toBe('pending')
  await here.allow(id, 'folder_write')
  expect(await decided(here.sales, 'write')).toMatchObject({ grant: { path: docs } })
})

test('PV9 GR6 what is put back is under its own grant again', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  await here.add(docs, 'read-write')
  const { id: own } = await here.add(file, 'read')
  renameSync(file, `${file}.away`)
  replace(file)
  expect((await here.grants.decideNow(here.sales, file, 'read')).grant?.path).toBe(docs)
  renameSync(`${file}.away`, file)
  expect((await here.grants.decideNow(here.sales, file, 'read')).grant?.id).toBe(own)
  expect(await here.grants.decideNow(here.sales, file, 'write')).toEqual({
    code: 'read_only_grant',
  })
})

test('GR6 PV9 a denial applies to its path, even after the file there is replaced', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { request_id: id } = await here.ask(file, here.sales)
  await here.decide(id, { decision: 'reject', grant: { choice: 'deny_always' } })
  await here.add(docs, 'read-write')
  replace(file)
  expect(await here.grants.decideNow(here.sales, file, 'read')).toMatchObject({
    denied: { path: file },
  })
  const [whole] = here.grants.listActive().filter(({ path }) => path === docs)
  expect(here.grants.listClosedBelow(here.sales, whole as Grant, 'read')).toEqual(['report.txt'])
})

test('PV9 GR6 where all of them are dead, the nearest is named', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'Work', 'plan.md')
  await here.add(join(docs, 'Work'), 'read-write')
  const { id: own } = await here.add(file, 'read')
  replaceFolder(join(docs, 'Work'))
  expect((await here.grants.decideNow(here.sales, file, 'read')).grant?.id).toBe(own)
  expect(await here.check(file, here.sales)).toMatchObject({ has_access: false })
})

test('PV9 a grant that people add for a replaced path ends the grants of the previous target', async () => {
  const { start, docs } = await world()
  const here = await start()
  const work = join(docs, 'Work')
  await here.add(work, 'read-write')
  const denied = await here.ask(work, await here.agent('support'), { permission: 'read-write' })
  expect(denied).toMatchObject({ status: 'granted' })
  replaceFolder(work)
  const added = await here.add(work, 'read', { agent: 'sales' })
  expect(await here.listed(anna)).toEqual([added])
})

test('GR2 GR4 PV9 agents and people are told that what was granted is not there any more', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { id } = await here.add(file)
  const { id: kept } = await here.add(join(docs, 'Work'))
  const nothing = { has_access: false, permission: null, grant_id: null, granted_path: null }
  for (const change of [() => replace(file), () => rmSync(file)]) {
    change()
    expect(await here.check(file, here.sales)).toEqual(nothing)
    for (const caller of [anna, here.sales])
      expect((await here.listed(caller)).filter(({ replaced }) => replaced === true)).toMatchObject(
        [{ id }],
      )
  }
  expect(await here.check(join(docs, 'Work'), here.sales)).toMatchObject({ grant_id: kept })
})

test('GR1 PV9 whether a grant of another disk is in place is not known here', async () => {
  const { start, docs } = await world()
  const there = await start({}, 'there')
  const file = join(docs, 'report.txt')
  await there.add(file)
  await there.stop()
  replace(file)
  const here = await start({}, 'here')
  const [grant] = await here.listed(anna)
  expect(grant).toMatchObject({ node: 'there' })
  expect(grant).not.toHaveProperty('replaced')
})

test('PV9 who was refused over a file that cowork put there a moment ago learns that the grant goes on', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  await here.add(file, 'read')
  const { grant } = here.grants.decide(here.sales, file, 'read')
  const from = (await pinPath(file)) as Inode
  replace(file)
  expect(await here.grants.wasRepinned(grant as Grant)).toBe(false)
  const to = (await pinPath(file)) as Inode
  const call = { id: 'call_1', caller: here.sales }
  await here.db.transact((tx) => here.grants.repin(tx, { path: file, from, to }, call))
  expect(await here.grants.wasRepinned(grant as Grant)).toBe(true)
})

test.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'PV9 what comes with the image of a container stays granted when it is first changed',
  async () => {
    const { docs } = await world()
    const disk = mountSmallDisk(join(docs, 'disk'), 1000)
    const at = (name: string) => join(disk.path, name)
    for (const name of ['lower', 'lower/project', 'upper', 'work', 'shown']) mkdirSync(at(name))
    const layers = `lowerdir=${at('lower')},upperdir=${at('upper')},workdir=${at('work')}`
    execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', layers, at('shown')])
    try {
      const pin = await pinPath(at('shown/project'))
      if (!pin) throw new Error('the project cannot be pinned')
      writeFileSync(at('shown/project/new.txt'), 'new')
      expect(await isStillAtPath(pin)).toBe(true)
    } finally {
      execFileSync('umount', [at('shown')])
      disk.remove()
    }
  },
)
