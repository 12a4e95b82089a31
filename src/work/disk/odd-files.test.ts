import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openTestWork, parsed, sampleText, findStory } from '../../../test/work.ts'

const settle = 120

async function opened(text?: string) {
  const work = await openTestWork(text)
  const { snapshots, projectSync } = work.open()
  onTestFinished(async () => {
    await projectSync.close()
    await work.close()
  })
  await projectSync.importEdits('p')
  const complete = join(dirname(work.path), 'COMPLETE')
  /** Adds more history than the work index keeps. */
  const grow = (count = 520) =>
    work.db.transact(async (tx) => {
      const held = await work.journal.lockProject(tx, 'p')
      const steps = Array.from({ length: count }, (_, n) => ({
        kind: 'history' as const,
        id: `h${held.seq + n}`,
        before: undefined,
        after: { item: { date: '2026-01-01', summary: `entry ${held.seq + n}` } },
      }))
      await work.journal.write(tx, held, { by: 'agent', at: Date.now() }, steps)
    })
  const put = (name: string, content: string) => {
    mkdirSync(complete, { recursive: true })
    writeFileSync(join(complete, name), content)
  }
  const kept = (name: string) => readFileSync(join(complete, name), 'utf8')
  return { ...work, projectSync, grow, put, kept, complete, snapshot: () => snapshots.current('p') }
}

const latin = Buffer.from(
  sampleText.replace('title: Second', 'title: Übung für alle # größer'),
  'latin1',
)

test('W6 a file that is not valid UTF-8 is neither imported nor overwritten', async () => {
  const { projectSync, path, set, snapshot } = await opened()
  writeFileSync(path, latin)
  await sleep(settle)
  await projectSync.importEdits('p')
  const [problem] = projectSync.broken('p')?.problems ?? []
  expect(problem).toEqual({ line: 16, column: 16, message: 'Not valid UTF-8.' })
  await set('STORY-3', { status: 'done' })
  await projectSync.flush('p')
  expect(readFileSync(path)).toEqual(latin)
  expect((await snapshot()).story('STORY-2')?.item.title).toBe('Second')
  writeFileSync(path, latin.toString('latin1'))
  await sleep(settle)
  await projectSync.flush('p')
  expect(projectSync.broken('p')).toBeUndefined()
  expect(readFileSync(path, 'utf8')).toContain('title: Übung für alle # größer')
})

test('W6 a late save that is not valid UTF-8 is copied byte for byte', async () => {
  const { projectSync, path, set, folder } = await opened()
  await set('STORY-3', { status: 'done' })
  await projectSync.flush('p')
  const own = join(dirname(path), '.cowork')
  const [old = ''] = readdirSync(own).filter((name) => name.endsWith('.old'))
  writeFileSync(join(own, old), latin)
  await sleep(settle)
  await projectSync.flush('p')
  const copies = join(folder, 'p', '.cowork', 'conflicts')
  const [copy = ''] = readdirSync(copies)
  expect(readFileSync(join(copies, copy))).toEqual(latin)
})

test('W7 a JSON work index is written as a block with its changes', async () => {
  const { projectSync, set, index, text } = await opened(`${JSON.stringify(parsed(sampleText))}\n`)
  await set('STORY-2', { status: 'done' })
  await projectSync.flush('p')
  expect(findStory(index(), 'STORY-2')?.status).toBe('done')
  expect(text()).toContain('      - id: STORY-2\n')
  expect(projectSync.unwritten('p')).toBeUndefined()
})

test('W7 the write failure is reported until the change is in the file', async () => {
  const { projectSync, path, set, index } = await opened()
  const own = join(dirname(path), '.cowork')
  rmSync(own, { recursive: true, force: true })
  writeFileSync(own, 'in the way')
  await set('STORY-2', { status: 'done' })
  await expect(projectSync.flush('p')).rejects.toThrow('EEXIST')
  expect(projectSync.unwritten('p')?.message).toContain('EEXIST')
  rmSync(own)
  await projectSync.flush('p')
  expect(projectSync.unwritten('p')).toBeUndefined()
  expect(findStory(index(), 'STORY-2')?.status).toBe('done')
})

test.each([
  ['does not parse', 'version: 2\nhistory:\n  - date: "2025\n    summary: broken\n'],
  ['has no list of entries', '- mine\n'],
])(
  'W25 old history goes to a new file next to one that %s, and the work index is written',
  async (_, text) => {
    const { projectSync, grow, put, kept, set, index } = await opened()
    put('history.yaml', text)
    await grow()
    await set('STORY-2', { status: 'done' })
    await projectSync.flush('p')
    expect(projectSync.unwritten('p')).toBeUndefined()
    expect(kept('history.yaml')).toBe(text)
    expect(kept('history~2.yaml')).toMatch(/^# history.yaml could not be read at \d+:\d+: /)
    expect(parsed(kept('history~2.yaml')).history).toHaveLength(120)
    expect(index().history).toHaveLength(400)
    expect(findStory(index(), 'STORY-2')?.status).toBe('done')
    await grow(110)
    await projectSync.flush('p')
    expect(parsed(kept('history~2.yaml')).history).toHaveLength(230)
  },
)

test.each([
  ['an empty list', 'version: 2\nhistory: []\n', 120],
  [
    'keys after it',
    'history:\n  - {date: "2025-01-01", summary: old} # mine\nnotes:\n  - mine\n',
    121,
  ],
])('W25 a history file with %s stays readable', async (_, text, count) => {
  const { projectSync, grow, put, kept } = await opened()
  put('history.yaml', text)
  await grow()
  await projectSync.flush('p')
  expect(parsed(kept('history.yaml')).history).toHaveLength(count)
  for (const line of text.split('\n').filter((one) => one.includes('mine')))
    expect(kept('history.yaml')).toContain(`${line}\n`)
})

test('W7 a failed archive does not block the work index and is reported', async () => {
  const { projectSync, grow, complete, set, index } = await opened()
  writeFileSync(complete, 'in the way')
  await grow()
  await set('STORY-2', { status: 'done' })
  await expect(projectSync.flush('p')).rejects.toThrow('EEXIST')
  expect(findStory(index(), 'STORY-2')?.status).toBe('done')
  expect(index().history).toHaveLength(520)
  expect(projectSync.unwritten('p')?.message).toContain('EEXIST')
})

test.each(['as absolute path', 'as relative path'])(
  'W5 a work index that is a symbolic link %s stays one; its target is written',
  async (how) => {
    const { projectSync, path, set, snapshot } = await opened()
    const repo = join(dirname(path), 'repo')
    const real = join(repo, 'plan.yaml')
    mkdirSync(repo)
    renameSync(path, real)
    symlinkSync(how === 'from its folder on' ? 'repo/plan.yaml' : real, path)
    await projectSync.importEdits('p')
    await set('STORY-2', { status: 'done' })
    await projectSync.flush('p')
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    expect(findStory(parsed(readFileSync(real, 'utf8')), 'STORY-2')?.status).toBe('done')
    writeFileSync(real, readFileSync(real, 'utf8').replace('title: Third', 'title: By hand'))
    await sleep(settle)
    await projectSync.importEdits('p')
    expect((await snapshot()).story('STORY-3')?.item.title).toBe('By hand')
  },
)

test('W5 no files of cowork remain next to the target of a link', async () => {
  const work = await openTestWork()
  let offset = 0
  const { projectSync } = work.open(() => Date.now() + offset)
  onTestFinished(async () => {
    await projectSync.close()
    await work.close()
  })
  const repo = join(dirname(work.path), 'repo')
  mkdirSync(repo)
  renameSync(work.path, join(repo, 'plan.yaml'))
  symlinkSync('repo/plan.yaml', work.path)
  await projectSync.importEdits('p')
  await work.set('STORY-2', { status: 'done' })
  await projectSync.flush('p')
  expect(existsSync(join(repo, '.cowork'))).toBe(true)
  offset = 6000
  await projectSync.flush('p')
  expect(readdirSync(repo)).toEqual(['plan.yaml'])
})

test('W6 a link to nothing or to a folder is reported and left unchanged', async () => {
  const { projectSync, path, set } = await opened()
  rmSync(path)
  symlinkSync('gone.yaml', path)
  await set('STORY-2', { status: 'done' })
  await projectSync.flush('p')
  const getMessage = () => projectSync.broken('p')?.problems[0]?.message
  expect(getMessage()).toBe('The file is a dangling symbolic link.')
  mkdirSync(join(dirname(path), 'gone.yaml'))
  await projectSync.flush('p')
  expect(getMessage()).toBe('Not a regular file.')
  expect(lstatSync(path).isSymbolicLink()).toBe(true)
})
