import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Call } from '#base/tool.ts'
import { openTestLedger } from '../../test/ledger.ts'
import { inWorkspace, openTestOps } from '../../test/ops.ts'
import type { FileWorker } from './worker-client.ts'
import { createHistoryStore } from './history-store.ts'
import { createHistory } from './history.ts'
import { fileMigrations } from './migrations.ts'
import { writeJournal } from './ops/in-place.ts'
import { createVersionCleanup } from './versions.ts'
import type { OpRequest } from './worker/protocol.ts'

const call: Call = {
  id: 'c1',
  caller: { kind: 'agent', id: 'sales', session: 's1', verified: true, scopes: ['*'] },
  signal: new AbortController().signal,
  progress: () => undefined,
  addDetails: () => undefined,
}

async function setup(more: { maxPerFile?: number; maxBytes?: number } = {}) {
  const limits = { retentionMs: 60_000, maxPerFile: 50, maxBytes: 1000, ...more }
  const { db, ledger, entries, close } = await openTestLedger(fileMigrations)
  const disk = openTestOps()
  const folder = join(disk.workspace, '..', 'versions')
  onTestFinished(async () => {
    await disk.close()
    await close()
  })
  let time = Date.now()
  const now = () => time
  const store = createHistoryStore(db.dialect, 'here')
  const history = createHistory(store, now, limits.maxPerFile)
  const asks: { readonly op: string; readonly asked: unknown }[] = []
  const ask: FileWorker['ask'] = (op, asked, { body } = {}) => {
    asks.push({ op, asked })
    return disk.run(op, asked, body)
  }
  const upkeep = createVersionCleanup({ db, store, history, worker: { ask }, limits, now })
  /** Writes a file and keeps its earlier content on disk; `settle` adds the row of that version. */
  async function write(path: string, content: string) {
    time++
    const asked = { at: inWorkspace(path), writeMode: 'put', encoding: 'binary' } as const
    const { before } = await history.withWriteLock(() => disk.run('write', asked, content))
    return history.recordChange(call, {
      operation: 'create_file',
      made: path,
      replaced: before && { path, before },
    })
  }
  return {
    ...upkeep,
    store,
    db,
    write,
    settle: ledger.transact,
    folder,
    asks,
    pass: (ms: number) => (time += ms),
    kept: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
        .length,
    dropped: async () => (await entries()).filter(({ type }) => type === 'versions.dropped'),
    found: async () => (await entries()).filter(({ type }) => type === 'versions.found'),
    disk,
  }
}

test('TR4 contents of versions that are too many go soon after, others’ and equal ones stay', async () => {
  const { write, settle, trim, kept, dropped, pass } = await setup({ maxPerFile: 2 })
  for (const n of [0, 1, 2, 3, 4]) await settle(await write('a', `a${n}`))
  // The content of the oldest version of a is now that of a version of b.
  for (const content of ['a0', 'b1']) await settle(await write('b', content))
  expect(kept()).toBe(4)
  // Cleanup spares recent contents, because a pending row may refer to them.
  await trim()
  expect(kept()).toBe(4)
  expect(await dropped()).toEqual([])
  pass(11 * 60_000)
  await trim()
  expect(kept()).toBe(3)
  expect(await dropped()).toMatchObject([{ data: { versions: 0, contents: 1 } }])
})

test('TR4 beyond the size of all together the oldest go without waiting for the next day', async () => {
  const { write, settle, trim, kept, pass, store, db } = await setup({ maxBytes: 25 })
  for (const n of [0, 1, 2]) await settle(await write(`f${n}`, `${n}`.repeat(10)))
  for (const n of [0, 1]) await settle(await write(`f${n}`, 'x'))
  await trim()
  expect(await store.listAllVersions(db)).toHaveLength(2)
  await settle(await write('f2', 'x'))
  await trim()
  const left = (await store.listAllVersions(db)).map(({ path }) => path)
  expect(left.sort()).toEqual(['f1', 'f2'])
  pass(11 * 60_000)
  await trim()
  expect(kept()).toBe(2)
})

test('TR4 a content that no version names goes, one that is about to be named stays', async () => {
  const { write, settle, expire, kept, folder, pass, dropped } = await setup()
  await settle(await write('a', 'one'))
  await settle(await write('a', 'two'))
  // As a kill leaves it; and what does not look like a content is not ours to judge.
  const orphan = join(folder, 'ab', '0'.repeat(62))
  writeFileSync(orphan, 'orphan')
  writeFileSync(join(folder, 'ab', 'note'), 'other')
  const pending = await write('a', 'three')
  expect(kept()).toBe(4)
  await expire()
  // It may be the only copy of what was overwritten, so it has its time like any other.
  expect(kept()).toBe(4)
  utimesSync(orphan, 1, 1)
  await expire()
  expect(kept()).toBe(3)
  expect(await dropped()).toMatchObject([{ data: { versions: 0, contents: 1 } }])
  await settle(pending)
  await expire()
  expect(kept()).toBe(3)
  // The content of a change that was never recorded goes once no call can still record it.
  await write('a', 'four')
  pass(11 * 60_000)
  await expire()
  expect(kept()).toBe(1)
})

test('TR4 however many contents go at once, each call to the disk is about a bounded number', async () => {
  const { expire, kept, folder, asks, dropped } = await setup()
  mkdirSync(join(folder, 'ab'))
  for (let n = 0; n < 1200; n++) {
    const orphan = join(folder, 'ab', String(n).padStart(62, '0'))
    writeFileSync(orphan, '')
    utimesSync(orphan, 1, 1)
  }
  await expire()
  expect(kept()).toBe(0)
  const sizes = asks
    .filter(({ op }) => op === 'deleteVersions')
    .map(({ asked }) => (asked as OpRequest<'deleteVersions'>).sha256.length)
  expect(sizes).toEqual([1000, 200])
  expect(await dropped()).toMatchObject([{ data: { contents: 1200 } }])
})

test('TR4 an interrupted write in place under an ended grant leaves a version until that expires', async () => {
  const { expire, disk, folder, store, db, pass, kept, found } = await setup()
  const path = join(disk.granted, 'one.txt')
  writeFileSync(path, 'half', { mode: 0o640 })
  const stat = statSync(path, { bigint: true })
  const contents = { old: Buffer.from('old'), fresh: Buffer.from('fresh') }
  const notes = () => readdirSync(join(folder, 'in-place'))
  // One whose grant is there is put right by the worker, and none of our business.
  await writeJournal(disk.context.roots, disk.root('grant_1', path), stat, contents)
  await expire()
  expect(notes()).toHaveLength(1)
  await writeJournal(disk.context.roots, disk.root('grant_gone', path), stat, contents)
  await expire()
  expect(notes()).toEqual([])
  const [version, ...more] = await store.listVersions(db, path, 10)
  expect(more).toEqual([])
  expect(version).toMatchObject({ size: 3, mode: 0o640, by: 'unknown' })
  const { sha256 = '' } = version ?? {}
  const content = join(disk.workspace, '..', 'versions', sha256.slice(0, 2), sha256.slice(2))
  expect(readFileSync(content, 'utf8')).toBe('old')
  expect(await found()).toMatchObject([{ data: { versions: 1, found: [path] } }])
  pass(11 * 60_000)
  await expire()
  expect(await store.listVersions(db, path, 10)).toEqual([])
  expect(kept()).toBe(0)
})
