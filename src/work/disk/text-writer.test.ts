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

/** By then a save counts as whole. */
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
  /** As a tool acknowledges a text: with a change of its item, and not in the file yet. */
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

/** One text is written by the program, in place of another. */
async function replaced(of: Opened) {
  writeFileSync(of.textPath, 'as it was\n')
  const { projectSync, conflicts } = of.start()
  await of.acknowledge('by the agent\n', 'as it was\n')
  await projectSync.flush('p')
  expect(readFileSync(of.textPath, 'utf8')).toBe('by the agent\n')
  return { projectSync, conflicts }
}

test('W25 W7 what was acknowledged and not yet written is written by the next process', async () => {
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

test('W25 W7 what was written and not marked is written again to no effect', async () => {
  // Each of them may be there when a process ends between the file and the mark.
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

test('W25 W7 also where the plan itself was marked already', async () => {
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

test('W25 W5 a save into the file that has just been replaced is kept and told', async () => {
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

test('W25 W5 also when the process was ended meanwhile', async () => {
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

test('W25 what was saved too late is told once it can be kept', async () => {
  const of = await opened()
  const { projectSync, conflicts } = await replaced(of)
  const own = join(of.folder, '.cowork', 'backlog', 'later')
  const copies = join(of.folder, '.cowork', 'conflicts')
  // Nothing can be kept there.
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

test('W25 a person’s edit that is no text, or too long, is kept byte for byte', async () => {
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

test('W25 a file that a person took away since is there again with the new text', async () => {
  const of = await opened()
  await of.acknowledge('by the agent\n', 'as it was\n')
  rmSync(dirname(of.textPath), { recursive: true })
  const { projectSync, conflicts } = of.start()
  await projectSync.flush('p')
  expect(readFileSync(of.textPath, 'utf8')).toBe('by the agent\n')
  expect(await conflicts()).toEqual([])
})

test('W25 what stands in the way is told, and the text is written once it is gone', async () => {
  for (const hinder of [
    (path: string) => mkdirSync(path),
    (path: string) => symlinkSync(`${path}.elsewhere`, path),
  ]) {
    const of = await opened()
    hinder(of.textPath)
    await of.acknowledge('by the agent\n', null)
    const { projectSync } = of.start()
    await expect(projectSync.flush('p')).rejects.toThrow('Cannot write BACKLOG/later.md of p')
    // The plan does not wait for it.
    expect((await of.store.project(of.db, 'p'))?.flushed).toBe(1)
    expect(existsSync(`${of.textPath}.elsewhere`)).toBe(false)
    rmSync(of.textPath, { recursive: true })
    await projectSync.flush('p')
    expect(readFileSync(of.textPath, 'utf8')).toBe('by the agent\n')
  }
})

test('W25 W3 what is left besides the file is tidied up', async () => {
  const of = await opened()
  const { projectSync } = await replaced(of)
  const own = join(of.folder, '.cowork', 'backlog')
  expect(readdirSync(own)).toEqual(['later'])
  await expect.poll(() => readdirSync(own), { timeout: 15_000 }).toEqual([])
  expect(readdirSync(dirname(of.textPath))).toEqual(['later.md'])
  await projectSync.flush('p')
})
