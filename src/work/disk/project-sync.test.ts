import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
  openSync,
  writeSync,
  closeSync,
  ftruncateSync,
} from 'node:fs'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { openTestWork, parsed, sampleText, findStory } from '../../../test/work.ts'

const settle = 120
let undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.toReversed()) await step()
  undo = []
})

async function opened(text?: string, now?: () => number) {
  const work = await openTestWork(text)
  undo.push(work.close)
  const { snapshots, projectSync } = work.open(now)
  undo.push(projectSync.close)
  await projectSync.importEdits('p')
  const snapshot = () => snapshots.current('p')
  return { ...work, projectSync, snapshots, snapshot }
}

const save = async (path: string, text: string) => {
  writeFileSync(path, text)
  await sleep(settle)
}

test('W7 a flush writes the change and nothing else', async () => {
  const { set, projectSync, text, store, db } = await opened()
  await set('STORY-2', { status: 'in_progress' })
  await projectSync.flush('p')
  expect(text()).toBe(
    sampleText.replace(
      'title: Second\n        status: planned',
      'title: Second\n        status: in_progress',
    ),
  )
  expect(await store.project(db, 'p')).toMatchObject({ seq: 1, flushed: 1 })
})

test('W5 the next read has what a person saved', async () => {
  const { projectSync, snapshot, path, entries } = await opened()
  await save(path, sampleText.replace('title: Second', 'title: By hand'))
  await projectSync.importEdits('p')
  expect((await snapshot()).story('STORY-2')?.item.title).toBe('By hand')
  expect((await snapshot()).story('STORY-2')?.rev).toBe(2)
  expect((await entries()).map(({ type }) => type)).toContain('work.merged')
})

test('W5 a save with an old mtime is detected', async () => {
  const { projectSync, snapshot, path } = await opened()
  writeFileSync(path, sampleText.replace('title: Second', 'title: Seconds'))
  utimesSync(path, new Date(0), new Date(0))
  await sleep(settle)
  await projectSync.importEdits('p')
  expect((await snapshot()).story('STORY-2')?.item.title).toBe('Seconds')
})

test('W5 edits of different fields are both in store and file, with the person’s comments', async () => {
  const { projectSync, snapshot, path, set, index, text } = await opened()
  await set('STORY-1', { status: 'done' })
  await save(path, sampleText.replace('notes: as it was', 'notes: by hand  # mine'))
  await projectSync.flush('p')
  expect(findStory(index(), 'STORY-1')).toMatchObject({ status: 'done', notes: 'by hand' })
  expect((await snapshot()).story('STORY-1')?.item).toMatchObject({
    status: 'done',
    notes: 'by hand',
  })
  expect(text()).toContain('notes: by hand  # mine')
})

test('W5 after edits of the same field the acknowledged value stays and the other is kept in three places', async () => {
  const { projectSync, path, set, index, folder, snapshot } = await opened()
  await set('STORY-1', { notes: 'by the agent' })
  const theirs = sampleText.replace('as it was', 'by the person')
  await save(path, theirs)
  await projectSync.flush('p')
  expect(findStory(index(), 'STORY-1')?.notes).toBe('by the agent')
  const [conflict] = index().conflicts
  expect(conflict).toMatchObject({
    item: 'STORY-1',
    field: 'notes',
    kind: 'same_field',
    ours: 'by the agent',
    theirs: 'by the person',
  })
  expect(readFileSync(join(folder, 'p', conflict?.copy ?? ''), 'utf8')).toBe(theirs)
  expect((await snapshot()).conflicts()).toEqual(index().conflicts)
})

test('W5 an editor that saves an old buffer reverts nothing', async () => {
  const { projectSync, path, set, index } = await opened()
  await set('STORY-1', { status: 'in_progress' })
  await projectSync.flush('p')
  await set('STORY-2', { status: 'done' })
  await projectSync.flush('p')
  // Loaded before both changes, saved after them.
  await save(path, sampleText.replace('title: Third', 'title: From an old buffer'))
  await projectSync.flush('p')
  expect(findStory(index(), 'STORY-1')?.status).toBe('in_progress')
  expect(findStory(index(), 'STORY-2')?.status).toBe('done')
  expect(findStory(index(), 'STORY-3')?.title).toBe('From an old buffer')
  expect(index().conflicts).toEqual([])
})

test('W5 restoring an old version of the file changes nothing and is a conflict', async () => {
  const { projectSync, path, set, index } = await opened()
  await set('STORY-1', { status: 'done' })
  await projectSync.flush('p')
  await save(path, sampleText)
  await projectSync.flush('p')
  expect(findStory(index(), 'STORY-1')?.status).toBe('done')
  expect(index().conflicts).toMatchObject([{ kind: 'possible_revert' }])
})

test('W5 a save into a file that was just replaced is imported', async () => {
  const { projectSync, path, set, index } = await opened()
  const held = openSync(path, 'r+')
  await set('STORY-1', { status: 'done' })
  await projectSync.flush('p')
  const text = sampleText.replace('title: Third', 'title: Held open')
  ftruncateSync(held)
  writeSync(held, text, 0)
  closeSync(held)
  await sleep(settle)
  await projectSync.flush('p')
  expect(findStory(index(), 'STORY-3')?.title).toBe('Held open')
  expect(findStory(index(), 'STORY-1')?.status).toBe('done')
})

test('W6 an invalid file is never overwritten and is used again once fixed', async () => {
  const { projectSync, path, set, text, snapshot, index } = await opened()
  const broken = sampleText.replace('status: active', 'status: [')
  await save(path, broken)
  await projectSync.importEdits('p')
  expect(projectSync.broken('p')).toMatchObject({ file: path, problems: [{ line: 8 }] })
  expect((await snapshot()).story('STORY-1')?.item.title).toBe('First')
  await set('STORY-1', { status: 'done' })
  await projectSync.flush('p')
  expect(text()).toBe(broken)
  await save(path, sampleText.replace('title: Third', 'title: Mended'))
  await projectSync.flush('p')
  expect(projectSync.broken('p')).toBeUndefined()
  expect(findStory(index(), 'STORY-3')?.title).toBe('Mended')
  expect(findStory(index(), 'STORY-1')?.status).toBe('done')
})

test('W6 a folder in place of the file is reported, and the file is rewritten when the folder is gone', async () => {
  const { projectSync, path, set, index } = await opened()
  rmSync(path)
  mkdirSync(path)
  await projectSync.importEdits('p')
  expect(projectSync.broken('p')?.problems[0]?.message).toContain('Not a regular file')
  rmSync(path, { recursive: true })
  await set('STORY-1', { status: 'done' })
  await projectSync.flush('p')
  expect(findStory(index(), 'STORY-1')?.status).toBe('done')
})

test('W7 the next process writes acknowledged changes', async () => {
  const work = await openTestWork()
  undo.push(work.close)
  await work.set('STORY-1', { status: 'done' })
  const { projectSync } = work.open()
  undo.push(projectSync.close)
  await projectSync.flush('p')
  expect(findStory(work.index(), 'STORY-1')?.status).toBe('done')
})

test('W7 a file written but not marked as flushed is unchanged after a restart', async () => {
  const { set, projectSync, db, store, open, text, index } = await opened()
  await set('STORY-1', { status: 'done' })
  await projectSync.flush('p')
  const before = text()
  const row = await store.project(db, 'p')
  if (row)
    await db.transact((tx) => store.flushed(tx, { ...row, flushed: 0, fileHash: 'gone' }, 100))
  await sleep(settle)
  const again = open()
  undo.push(again.projectSync.close)
  await again.projectSync.flush('p')
  expect(text()).toBe(before)
  expect(index().conflicts).toEqual([])
})

test('W5 an edit while the daemon was stopped is merged at the start', async () => {
  const { set, projectSync, path, open, index } = await opened()
  await set('STORY-1', { status: 'done' })
  await projectSync.close()
  await save(path, readFileSync(path, 'utf8').replace('title: Third', 'title: Overnight'))
  const again = open()
  undo.push(again.projectSync.close)
  await again.projectSync.importEdits('p')
  expect((await again.snapshots.current('p')).story('STORY-3')?.item.title).toBe('Overnight')
  expect(findStory(index(), 'STORY-1')?.status).toBe('done')
})

test('RM9 W3 a reader always sees the complete old or new file', async () => {
  const { set, projectSync, path, text } = await opened()
  const reader = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads')
     const { readFileSync } = require('node:fs')
     const seen = new Set()
     let reads = 0
     let isOver = false
     parentPort.once('message', () => (isOver = true))
     const look = () => {
       for (let n = 0; n < 200; n++) {
         let found
         try { found = readFileSync(workerData, 'utf8') } catch (error) { found = 'error ' + error.code }
         seen.add(found)
         reads++
       }
       if (isOver) parentPort.postMessage({ seen: [...seen], reads })
       else setImmediate(look)
     }
     parentPort.postMessage('ready')
     look()`,
    { eval: true, workerData: path },
  )
  undo.push(() => reader.terminate())
  await once(reader, 'message')
  const written = new Set([text()])
  for (let round = 0; round < 40; round++) {
    await set('STORY-1', { notes: `round ${round} `.repeat(1 + (round % 7) * 300) })
    await projectSync.flush('p')
    written.add(text())
  }
  reader.postMessage('over')
  const [{ seen, reads }] = (await once(reader, 'message')) as [{ seen: string[]; reads: number }]
  expect(reads).toBeGreaterThan(100)
  expect(seen.length).toBeGreaterThan(1)
  expect(seen.filter((one) => !written.has(one))).toEqual([])
})

test('W3 leftover files are removed', async () => {
  let ahead = 0
  const { set, projectSync, path } = await opened(undefined, () => Date.now() + ahead)
  await set('STORY-1', { status: 'done' })
  await projectSync.flush('p')
  const own = join(dirname(path), '.cowork')
  const leftovers = () =>
    existsSync(own) ? readdirSync(own).filter((name) => name.endsWith('.old')) : []
  expect(leftovers()).toHaveLength(1)
  ahead = 5300
  await projectSync.importEdits('p')
  expect(leftovers()).toEqual([])
})

test('W7 an unfinished write of a killed process is not imported', async () => {
  const { projectSync, path, open, text, index } = await opened()
  await projectSync.close()
  const own = join(dirname(path), '.cowork')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'work-index.yaml.abc.part'), sampleText.slice(0, 200))
  await sleep(settle)
  const again = open()
  undo.push(again.projectSync.close)
  await again.projectSync.importEdits('p')
  await again.projectSync.flush('p')
  expect(text()).toBe(sampleText)
  expect(index().conflicts).toEqual([])
  expect(readdirSync(own)).not.toContain('work-index.yaml.abc.part')
})

test('W5 an editor that saves by rename loses nothing', async () => {
  const { projectSync, path, set, index } = await opened()
  for (let round = 0; round < 5; round++) {
    await set('STORY-1', { notes: `agent ${round}` })
    const next = readFileSync(path, 'utf8').replace(
      /title: (Third|Renamed.*)/,
      `title: Renamed ${round}`,
    )
    writeFileSync(`${path}.swp`, next)
    renameSync(`${path}.swp`, path)
    await sleep(settle)
    await projectSync.flush('p')
    expect(findStory(index(), 'STORY-3')?.title).toBe(`Renamed ${round}`)
    expect(findStory(index(), 'STORY-1')?.notes).toBe(`agent ${round}`)
  }
  expect(index().conflicts).toEqual([])
})

test('W25 archived sprints and old history move to COMPLETE/ completely', async () => {
  const old = Array.from(
    { length: 520 },
    (_, n) => `  - date: '2026-01-01'\n    summary: entry ${n}\n`,
  )
  const { projectSync, path, index, set, db, store, journal, text } = await opened(
    sampleText.replace('history: []', `history:\n${old.join('')}`.trimEnd()),
  )
  await set('STORY-1', { status: 'done' })
  await db.transact(async (tx) => {
    const held = await journal.lockProject(tx, 'p')
    const before = await store.item(tx, 'p', 'sprint', 'one')
    if (!before) throw new Error('no sprint')
    const item = { ...before.item, status: 'completed', archived: true }
    const step = { kind: 'sprint' as const, id: 'one', before, after: { item } }
    await journal.write(tx, held, { by: 'agent', at: Date.now() }, [step])
  })
  await projectSync.flush('p')
  const complete = (name: string) => readFileSync(join(dirname(path), 'COMPLETE', name), 'utf8')
  expect(index().sprints).toEqual([])
  expect(index().history).toHaveLength(400)
  expect(parsed(complete('one.yaml')).sprints[0]?.stories).toHaveLength(3)
  expect(findStory(parsed(complete('one.yaml')), 'STORY-1')?.status).toBe('done')
  const summaries = [...parsed(complete('history.yaml')).history, ...index().history]
  expect(summaries.map(({ summary }) => summary)).toEqual(old.map((_, n) => `entry ${n}`))
  expect(text()).toContain('sprints: []')
})

test('W25 no sprint id leaves COMPLETE/ or overwrites another archive', async () => {
  const ids = ['../../outside', 'history', 'twice', '.hidden']
  const { projectSync, folder, path, index, db, store, journal } = await opened()
  const archive = (id: string, title: string) =>
    db.transact(async (tx) => {
      const held = await journal.lockProject(tx, 'p')
      const item = { id, title, status: 'completed', archived: true }
      const step = { kind: 'sprint' as const, id, before: undefined, after: { item } }
      await journal.write(tx, held, { by: 'agent', at: Date.now() }, [step])
    })
  const summaries = Array.from({ length: 520 }, (_, n) => `entry ${n}`)
  await db.transact(async (tx) => {
    const held = await journal.lockProject(tx, 'p')
    const steps = summaries.map((summary, n) => ({
      kind: 'history' as const,
      id: `h${n}`,
      before: undefined,
      after: { item: { date: '2026-01-01', summary } },
    }))
    await journal.write(tx, held, { by: 'agent', at: Date.now() }, steps)
  })
  for (const id of ids) await archive(id, 'First')
  await projectSync.flush('p')
  await archive('twice', 'Second')
  await projectSync.flush('p')
  const complete = join(dirname(path), 'COMPLETE')
  const sprints = readdirSync(complete)
    .filter((name) => name !== 'history.yaml')
    .flatMap((name) => parsed(readFileSync(join(complete, name), 'utf8')).sprints)
  expect(sprints.map(({ id, title }) => `${id} ${title}`).toSorted()).toEqual(
    [...ids.map((id) => `${id} First`), 'twice Second'].toSorted(),
  )
  const old = parsed(readFileSync(join(complete, 'history.yaml'), 'utf8')).history
  expect([...old, ...index().history].map(({ summary }) => summary)).toEqual(summaries)
  expect(readdirSync(folder)).toEqual(['p'])
  expect(await store.listByKind(db, 'p', 'sprint')).toHaveLength(1)
})
