import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
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

test('TR1 what came into the trash though nobody could say so is known there soon', async () => {
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
    closedBelow: async () => [],
    deniedFiles: async () => [],
    live: () => [],
    used: () => undefined,
  }
  const places = createPlaces({ workspace, home: setup.guard.home, guard, grants })
  const disk = createDisk({ worker, places, grants })
  const store = createHistoryStore(db.dialect, 'here')
  const arriving = createArriving({ disk, places })
  const more = { db, store, worker, disk, arriving, places, retentionMs: 1000, now: Date.now }
  const trash = createTrash(more)

  const name = 'die-after-renameSync-changed.txt'
  fill(path, { [name]: 'precious' })
  await expect(trash.remove(call, name)).rejects.toMatchObject({ code: 'interrupted' })
  const rows = async () => (await store.trash(db)).map((one) => [one.path, one.by])
  await expect.poll(rows).toEqual([[join(path, name), 'sales']])
  expect((await entries()).map(({ type }) => type)).toEqual(['trash.reconciled'])
})
