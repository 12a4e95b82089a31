import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { newId } from '#base/ids.ts'
import { silentLog } from '#base/log.ts'
import type { Call } from '#base/tool.ts'
import { openTestLedger } from '../../test/ledger.ts'
import { fill, testFolders } from '../../test/roots.ts'
import { mountSmallDisk } from '../../test/small-disk.ts'
import { createDiskAccess } from './disk-access.ts'
import { createFileWorker } from './worker-client.ts'
import type { FileWorker } from './worker-client.ts'
import { createHistoryStore } from './history-store.ts'
import { fileMigrations } from './migrations.ts'
import { createPathResolver } from './path-resolver.ts'
import { createGuard } from './rules/guard.ts'
import { createTrash } from './trash.ts'

const entry = join(import.meta.dirname, '../../test/file-worker/halting.ts')

const call: Call = {
  id: 'c1',
  caller: { kind: 'agent', id: 'sales', session: 's1', verified: true, scopes: ['*'] },
  signal: new AbortController().signal,
  progress: () => undefined,
  addDetails: () => undefined,
}

/** With a worker that dies where the name of a file says so. */
async function openTrash() {
  const { workspace: path, setup, top } = testFolders()
  const { db, entries, close } = await openTestLedger(fileMigrations)
  const worker = createFileWorker({ setup, log: silentLog, landlock: false, entry })
  onTestFinished(async () => {
    await worker.close()
    await close()
  })
  const own = join(path, '.cowork')
  const workspace = {
    path,
    configuredPath: path,
    internalFolder: own,
    trash: join(top, 'trash'),
    isNew: false,
  }
  const guard = createGuard(setup.guard)
  // No grants: all of it is in the workspace.
  const grants = {
    decideNow: () => Promise.reject(new Error('no file here is granted')),
    listClosedBelow: () => [],
    listDeniedFiles: async () => [],
    listActive: () => [],
    recordUse: () => undefined,
    wasRepinned: async () => false,
    trackReplacement: () => undefined,
  }
  const resolver = createPathResolver({ workspace, home: setup.guard.home, guard, grants })
  const disk = createDiskAccess({ worker, resolver, grants })
  const store = createHistoryStore(db.dialect, 'here')
  let ahead = 0
  const later = (ms: number) => void (ahead = ms)
  let meanwhile: () => Promise<void> = async () => undefined
  /** Something may happen between the look at the disk and what follows from it. */
  const looked: FileWorker['ask'] = async (op, ask, options) => {
    const answer = await worker.ask(op, ask, options)
    if (op === 'listTrash') await meanwhile()
    return answer
  }
  const asking = { ...worker, ask: looked }
  const during = (act: () => Promise<void>) => void (meanwhile = act)
  const more = {
    db,
    store,
    worker: asking,
    disk,
    resolver,
    retentionMs: 1000,
    now: () => Date.now() + ahead,
  }
  return { path, bin: workspace.trash, db, entries, store, during, later, trash: createTrash(more) }
}

test('TR1 what came into the trash though nobody could say so is known there soon', async () => {
  const { path, db, entries, store, trash } = await openTrash()
  const name = 'die-after-renameSync-changed.txt'
  fill(path, { [name]: 'precious' })
  await expect(trash.remove(call, name)).rejects.toMatchObject({ code: 'interrupted' })
  const rows = async () => (await store.listTrash(db)).map((one) => [one.path, one.by])
  await expect.poll(rows).toEqual([[join(path, name), 'sales']])
  expect((await entries()).map(({ type }) => type)).toEqual(['trash.reconciled'])
})

test('TR1 a folder of which something had to stay where it was is in the trash, and listed, when that is answered', async () => {
  const { path, bin, db, store, trash } = await openTrash()
  const disk = mountSmallDisk(bin, 1000)
  onTestFinished(disk.remove)
  const names = Array.from({ length: 60 }, (_, n) => `slow-${n}.txt`)
  fill(join(path, 'f'), Object.fromEntries(names.map((name) => [name, 'old'])))
  const left = () => names.filter((name) => existsSync(join(path, 'f', name)))
  const removed = trash.remove(call, 'f').catch((error: unknown) => error)
  while (left().length === names.length) await sleep(1)
  const stays = String(left().at(-1))
  writeFileSync(join(path, 'f', stays), 'saved during the copy')
  expect(await removed).toMatchObject({
    code: 'stale',
    message: expect.stringContaining('The copy is complete') as string,
  })
  expect(left()).toEqual([stays])
  const [item, ...more] = await store.listTrash(db)
  expect([item?.path, more]).toEqual([join(path, 'f'), []])
  expect(readdirSync(join(bin, String(item?.id), 'content'))).toHaveLength(names.length)
})

test('TR3 what came back though nobody could say so has its versions there', async () => {
  const { path, bin, db, entries, store, trash } = await openTrash()
  const id = newId()
  const record = { path: join(path, 'a.txt'), type: 'file', size: 8 }
  fill(bin, { [`${id}/content`]: 'precious', [`${id}/record.json`]: JSON.stringify(record) })
  await trash.reconcile()
  const version = { id: newId(), path: record.path, sha256: 'a'.repeat(64), size: 1, mode: 0o644 }
  await db.transact(async (tx) => {
    const by = { at: 1, by: 'sales', operation: 'update_file', call: 'c0' }
    await store.addVersion(tx, { ...version, ...by })
    // As if it had been deleted by a call that was answered.
    const item = await store.findTrashItem(tx, id)
    if (item) await store.keepTrash(tx, item)
  })
  const name = 'die-after-renameSync-changed.txt'
  await expect(trash.restore(call, id, name)).rejects.toMatchObject({ code: 'interrupted' })
  await expect.poll(() => store.listTrash(db)).toEqual([])
  expect(await store.listVersions(db, join(path, name), 9)).toMatchObject([{ id: version.id }])
  expect(readFileSync(join(path, name), 'utf8')).toBe('precious')
  const kinds = (await entries()).map(({ type }) => type)
  expect(kinds).toEqual(['trash.reconciled', 'trash.reconciled'])
})

test('TR3 of a folder that came back its size says nothing: each disk counts its own', async () => {
  const { path, bin, db, store, trash } = await openTrash()
  const id = newId()
  const record = { path: join(path, 'f'), type: 'folder', size: 440 }
  fill(bin, { [`${id}/content/a.txt`]: 'a', [`${id}/record.json`]: JSON.stringify(record) })
  await trash.reconcile()
  const version = { id: newId(), path: join(path, 'f/a.txt'), sha256: 'a'.repeat(64), size: 1 }
  await db.transact(async (tx) => {
    const by = { mode: 0o644, at: 1, by: 'sales', operation: 'update_file', call: 'c0' }
    await store.addVersion(tx, { ...version, ...by })
    const item = await store.findTrashItem(tx, id)
    if (item) await store.keepTrash(tx, item)
  })
  const name = 'die-after-renameSync-changed'
  await expect(trash.restore(call, id, name)).rejects.toMatchObject({ code: 'interrupted' })
  await expect.poll(() => store.listTrash(db)).toEqual([])
  const versions = await store.listVersions(db, join(path, name, 'a.txt'), 9)
  expect(versions).toMatchObject([{ id: version.id }])
})

/** As if each had been deleted by a call that was answered. */
async function withDeleted(names: readonly string[]) {
  const opened = await openTrash()
  const { path, db, store, trash } = opened
  fill(path, Object.fromEntries(names.map((name) => [name, 'precious'])))
  const items: Awaited<ReturnType<typeof trash.remove>>[] = []
  for (const name of names) items.push(await trash.remove(call, name))
  await db.transact(async (tx) => {
    for (const item of items) await store.keepTrash(tx, { ...item, by: 'sales', call: 'c1' })
  })
  const rows = async () => (await store.listTrash(db)).map(({ id }) => id)
  return { ...opened, ids: items.map(({ id }) => id), rows }
}

test('TR1 what is not in the trash any more is not purged, and soon not listed either', async () => {
  const { bin, entries, trash, ids, rows } = await withDeleted(['a.txt', 'b.txt'])
  rmSync(join(bin, String(ids[0])), { recursive: true })
  const { purged } = await trash.purge(call, ids)
  expect(purged.map(({ id }) => id)).toEqual(ids.slice(1))
  // That of the other goes with the entry of its call.
  await expect.poll(rows).toEqual(ids.slice(1))
  expect(await entries()).toMatchObject([
    { type: 'trash.reconciled', data: { counts: { found: 0, gone: 1 } } },
  ])
})

test('TR1 what came back is not purged, and not taken for lost before that is on record', async () => {
  const { entries, trash, ids, rows } = await withDeleted(['a.txt'])
  await trash.restore(call, String(ids[0]), undefined)
  expect((await trash.purge(call, ids)).purged).toEqual([])
  // Nor because another asked for it too late.
  const again = trash.restore(call, String(ids[0]), 'other.txt')
  await expect(again).rejects.toMatchObject({ code: 'not_found' })
  await trash.reconcile()
  expect(await rows()).toEqual(ids)
  expect(await entries()).toEqual([])
})

test('TR1 what did not come back, and is then gone, is not listed', async () => {
  const { path, bin, trash, ids, rows } = await withDeleted(['a.txt'])
  writeFileSync(join(path, 'a.txt'), 'another')
  const restoring = trash.restore(call, String(ids[0]), undefined)
  await expect(restoring).rejects.toMatchObject({ code: 'exists' })
  // A purge that was cut off.
  rmSync(join(bin, String(ids[0])), { recursive: true })
  await trash.reconcile()
  expect(await rows()).toEqual([])
})

test('TR1 nor when nobody could say whether it came back, once that was looked for', async () => {
  const { bin, trash, ids, rows } = await withDeleted(['a.txt'])
  const restoring = trash.restore(call, String(ids[0]), 'die-before-renameSync.txt')
  await expect(restoring).rejects.toMatchObject({ code: 'interrupted' })
  await trash.reconcile()
  expect(await rows()).toEqual(ids)
  rmSync(join(bin, String(ids[0])), { recursive: true })
  const isGone = async () => {
    await trash.reconcile()
    return (await rows()).length === 0
  }
  await expect.poll(isGone).toBe(true)
})

test('TR1 FT10 whoever asks for what another took is told where to look, and it is listed no more', async () => {
  const { bin, trash, ids, rows } = await withDeleted(['a.txt'])
  rmSync(join(bin, String(ids[0])), { recursive: true })
  await expect(trash.restore(call, String(ids[0]), 'b.txt')).rejects.toMatchObject({
    code: 'not_found',
    message: 'Not in the trash.',
    hint: 'List the trash with trash_list.',
  })
  await expect.poll(rows).toEqual([])
})

test('TR1 FT8 what could not be removed to its end is purged all the same, and it is said where some is left', async () => {
  const { bin, entries, trash, ids } = await withDeleted(['a.txt', 'b.txt'])
  const left = join(bin, String(ids[0]))
  const disk = mountSmallDisk(join(left, 'disk'), 64)
  onTestFinished(disk.remove)
  const details: unknown[] = []
  const purging = { ...call, addDetails: ({ data }: { data?: object }) => void details.push(data) }
  const { purged, left: some } = await trash.purge(purging, ids)
  expect(purged.map(({ id }) => id)).toEqual(ids)
  expect(some).toEqual([left])
  expect(details).toEqual([{ purged: 2, left: [left] }])
  expect(await entries()).toEqual([])
})

test('TR1 what is too old and cannot be removed to its end is told to whoever keeps the daemon', async () => {
  const { bin, trash, ids, rows, later } = await withDeleted(['a.txt'])
  const left = join(bin, String(ids[0]))
  const disk = mountSmallDisk(join(left, 'disk'), 64)
  onTestFinished(disk.remove)
  later(2000)
  await expect(trash.expire()).rejects.toThrow(left)
  expect(await rows()).toEqual([])
})

test('TR1 reconciling does not report an item that its own call has reported', async () => {
  const { bin, db, store, entries, during, trash, ids } = await withDeleted(['a.txt', 'b.txt'])
  for (const id of ids) rmSync(join(bin, id), { recursive: true })
  during(() => db.transact(async (tx) => void (await store.deleteTrashItem(tx, String(ids[0])))))
  await trash.reconcile()
  expect(await entries()).toMatchObject([
    { data: { gone: [{ id: ids[1] }], counts: { found: 0, gone: 1 } } },
  ])
})
