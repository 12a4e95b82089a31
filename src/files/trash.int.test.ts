import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newId } from '#base/ids.ts'
import { silentLog } from '#base/log.ts'
import type { Call } from '#base/tool.ts'
import { openTestLedger } from '../../test/ledger.ts'
import { fill, testFolders } from '../../test/roots.ts'
import { createArriving } from './arriving.ts'
import { createFileWorker } from './client.ts'
import { createDisk } from './disk.ts'
import { createHistoryStore } from './history-store.ts'
import { fileMigrations } from './migrations.ts'
import { createPlaces } from './places.ts'
import { createGuard } from './rules/guard.ts'
import { createTrash } from './trash.ts'

const entry = join(import.meta.dirname, '../../test/file-worker/halting.ts')

const call: Call = {
  id: 'c1',
  caller: { kind: 'agent', id: 'sales', session: 's1', verified: true, scopes: ['*'] },
  signal: new AbortController().signal,
  progress: () => undefined,
  tell: () => undefined,
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
  const workspace = { path, given: path, own, trash: join(top, 'trash'), isNew: false }
  const guard = createGuard(setup.guard)
  // No grants: all of it is in the workspace.
  const grants = {
    decideNow: () => Promise.reject(new Error('no file here is granted')),
    closedBelow: () => [],
    deniedFiles: async () => [],
    live: () => [],
    used: () => undefined,
    hasMoved: async () => false,
  }
  const places = createPlaces({ workspace, home: setup.guard.home, guard, grants })
  const disk = createDisk({ worker, places, grants })
  const store = createHistoryStore(db.dialect, 'here')
  const arriving = createArriving({ disk, places })
  const more = { db, store, worker, disk, arriving, places, retentionMs: 1000, now: Date.now }
  return { path, bin: workspace.trash, db, entries, store, trash: createTrash(more) }
}

test('TR1 what came into the trash though nobody could say so is known there soon', async () => {
  const { path, db, entries, store, trash } = await openTrash()
  const name = 'die-after-renameSync-changed.txt'
  fill(path, { [name]: 'precious' })
  await expect(trash.remove(call, name)).rejects.toMatchObject({ code: 'interrupted' })
  const rows = async () => (await store.trash(db)).map((one) => [one.path, one.by])
  await expect.poll(rows).toEqual([[join(path, name), 'sales']])
  expect((await entries()).map(({ type }) => type)).toEqual(['trash.reconciled'])
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
    await store.keepVersion(tx, { ...version, ...by })
    // As if it had been deleted by a call that was answered.
    const item = await store.trashed(tx, id)
    if (item) await store.keepTrash(tx, item)
  })
  const name = 'die-after-renameSync-changed.txt'
  await expect(trash.restore(call, id, name)).rejects.toMatchObject({ code: 'interrupted' })
  await expect.poll(() => store.trash(db)).toEqual([])
  expect(await store.versionsOf(db, join(path, name), 9)).toMatchObject([{ id: version.id }])
  expect(readFileSync(join(path, name), 'utf8')).toBe('precious')
  const kinds = (await entries()).map(({ type }) => type)
  expect(kinds).toEqual(['trash.reconciled', 'trash.reconciled'])
})
