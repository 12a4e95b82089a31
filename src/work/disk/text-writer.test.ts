import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { sha256Hex } from '#base/hash.ts'
import { openTestWork } from '../../../test/work.ts'

/** After this time a save counts as complete. */
const settle = 120
let undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.toReversed()) await step()
  undo = []
})

async function opened() {
  const work = await openTestWork()
  undo.push(work.close)
  const { db, store, journal, open, path: index } = work
  const folder = dirname(index)
  const path = join(folder, 'BACKLOG', 'later.md')
  mkdirSync(dirname(path))
  const start = () => {
    const { projectSync, snapshots } = open()
    undo.push(projectSync.close)
    return { projectSync, conflicts: async () => (await snapshots.current('p')).conflicts() }
  }
  /** Acknowledges a text as a tool does: with a change of its item, not yet in the file. */
  const acknowledge = (text: string, base: string | null) =>
    db.transact(async (tx) => {
      const held = await journal.lockProject(tx, 'p')
      const before = await store.item(tx, 'p', 'backlog', 'later')
      if (!before) throw new Error('no item')
      const step = { kind: 'backlog' as const, id: 'later', before, after: { item: before.item } }
      await journal.write(tx, held, { by: 'agent', at: Date.now() }, [step])
      const sha256 = sha256Hex(text)
      const seq = held.seq + 1
      await store.texts.add(tx, 'p', {
        seq,
        id: 'later',
        base: base === null ? null : sha256Hex(base),
        sha256,
        text,
      })
    })
  const waiting = () => store.texts.pending(db, 'p')
  return { ...work, folder, textPath: path, start, acknowledge, waiting }
}
type Opened = Awaited<ReturnType<typeof opened>>

/** Replaces a text file by a newer text. */
async function replaced(of: Opened) {
  writeFileSync(of.textPath, 'as it was\n')
  const { projectSync, conflicts } = of.start()
  await of.acknowledge('by the agent\n', 'as it was\n')
  await projectSync.flush('p')
  expect(readFileSync(of.textPath, 'utf8')).toBe('by the agent\n')
  return { projectSync, conflicts }
}

test('W25 W7 the next process writes acknowledged texts', async () => {
  const of = await opened()
  await of.acknowledge('one\n', null)
  await of.acknowledge('two\n', 'one\n')
  const { projectSync, conflicts } = of.start()
  await projectSync.start()
  await expect
    .poll(() => existsSync(of.textPath) && readFileSync(of.textPath, 'utf8'))
    .toBe('two\n')
  await projectSync.flush('p')
  expect(await of.waiting()).toEqual([])
  expect(await conflicts()).toEqual([])
  expect(readdirSync(join(of.folder, '.cowork', 'backlog'))).toEqual([])
})

test('W25 W7 a text written but not marked is written again without effect', async () => {
  // States after a process ended between the write and the mark.
  for (const standing of ['one\n', 'two\n', 'three\n']) {
    const of = await opened()
    writeFileSync(of.textPath, standing)
    await of.acknowledge('two\n', 'one\n')
    await of.acknowledge('three\n', 'two\n')
    const { projectSync, conflicts } = of.start()
    await projectSync.flush('p')
    expect(readFileSync(of.textPath, 'utf8')).toBe('three\n')
    expect(await of.waiting()).toEqual([])
    expect(await conflicts()).toEqual([])
  }
})

test('W25 W7 pending texts are written even if the work index is flushed', async () => {
  const of = await opened()
  await of.acknowledge('one\n', null)
  const row = await of.store.project(of.db, 'p')
  if (row) await of.db.transact((tx) => of.store.flushed(tx, { ...row, flushed: row.seq }, 100))
  const { projectSync } = of.start()
  await projectSync.start()
  await expect
    .poll(() => existsSync(of.textPath) && readFileSync(of.textPath, 'utf8'))
    .toBe('one\n')
})

test('W25 W5 a save into a file that was just replaced is copied and becomes a conflict', async () => {
  const of = await opened()
  writeFileSync(of.textPath, 'as it was\n')
  const held = openSync(of.textPath, 'r+')
  const { projectSync, conflicts } = of.start()
  await of.acknowledge('by the agent\n', 'as it was\n')
  await projectSync.flush('p')
  ftruncateSync(held)
  writeSync(held, 'held open\n', 0)
  closeSync(held)
  await sleep(settle)
  await projectSync.flush('p')
  const [conflict, ...more] = await conflicts()
  expect(more).toEqual([])
  expect(conflict).toMatchObject({ item: 'later', ours: 'by the agent\n', theirs: 'held open\n' })
  expect(readFileSync(join(of.folder, conflict?.copy ?? ''), 'utf8')).toBe('held open\n')
  expect(readFileSync(of.textPath, 'utf8')).toBe('by the agent\n')
})

test('W25 W5 a late save becomes a conflict even after a restart', async () => {
  const of = await opened()
  const { projectSync } = await replaced(of)
  await projectSync.close()
  const own = join(of.folder, '.cowork', 'backlog', 'later')
  const [old = ''] = readdirSync(own)
  writeFileSync(join(own, old), 'into the old one\n')
  await sleep(settle)
  const again = of.start()
  await again.projectSync.importEdits('p')
  expect(await again.conflicts()).toMatchObject([{ item: 'later', theirs: 'into the old one\n' }])
  expect(existsSync(own)).toBe(false)
})

test('W25 a late save becomes a conflict once its copy can be saved', async () => {
  const of = await opened()
  const { projectSync, conflicts } = await replaced(of)
  const own = join(of.folder, '.cowork', 'backlog', 'later')
  const copies = join(of.folder, '.cowork', 'conflicts')
  // No copy can be saved there.
  rmSync(copies, { recursive: true, force: true })
  writeFileSync(copies, '')
  writeFileSync(join(own, readdirSync(own)[0] ?? ''), 'too late\n')
  await sleep(settle)
  await projectSync.flush('p')
  expect(await conflicts()).toEqual([])
  rmSync(copies)
  await projectSync.flush('p')
  expect(await conflicts()).toMatchObject([{ item: 'later', theirs: 'too late\n' }])
})

test('W25 an edit that is not text or is too long is copied byte for byte', async () => {
  for (const bytes of [Buffer.from([0x61, 0xff, 0x0a]), Buffer.from(`${'x'.repeat(300_000)}\n`)]) {
    const of = await opened()
    writeFileSync(of.textPath, 'as it was\n')
    await of.acknowledge('by the agent\n', 'as it was\n')
    writeFileSync(of.textPath, bytes)
    await sleep(settle)
    const { projectSync, conflicts } = of.start()
    await projectSync.flush('p')
    const [conflict] = await conflicts()
    expect(readFileSync(join(of.folder, conflict?.copy ?? '')).equals(bytes)).toBe(true)
    expect(readFileSync(of.textPath, 'utf8')).toBe('by the agent\n')
  }
})

test('W25 a file that a person deleted is recreated with the new text', async () => {
  const of = await opened()
  await of.acknowledge('by the agent\n', 'as it was\n')
  rmSync(dirname(of.textPath), { recursive: true })
  const { projectSync, conflicts } = of.start()
  await projectSync.flush('p')
  expect(readFileSync(of.textPath, 'utf8')).toBe('by the agent\n')
  expect(await conflicts()).toEqual([])
})

test('W25 a blocked write is reported, and the text is written once the path is free', async () => {
  for (const hinder of [
    (path: string) => mkdirSync(path),
    (path: string) => symlinkSync(`${path}.elsewhere`, path),
  ]) {
    const of = await opened()
    hinder(of.textPath)
    await of.acknowledge('by the agent\n', null)
    const { projectSync } = of.start()
    await expect(projectSync.flush('p')).rejects.toThrow('Cannot write BACKLOG/later.md of p')
    // The work index is still written.
    expect((await of.store.project(of.db, 'p'))?.flushed).toBe(1)
    expect(existsSync(`${of.textPath}.elsewhere`)).toBe(false)
    rmSync(of.textPath, { recursive: true })
    await projectSync.flush('p')
    expect(readFileSync(of.textPath, 'utf8')).toBe('by the agent\n')
  }
})

test('W25 W3 leftover files are removed', async () => {
  const of = await opened()
  const { projectSync } = await replaced(of)
  const own = join(of.folder, '.cowork', 'backlog')
  expect(readdirSync(own)).toEqual(['later'])
  await expect.poll(() => readdirSync(own), { timeout: 15_000 }).toEqual([])
  expect(readdirSync(dirname(of.textPath))).toEqual(['later.md'])
  await projectSync.flush('p')
})
