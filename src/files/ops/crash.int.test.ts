import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { KillPoint } from '../../../test/file-worker/killed.ts'
import { granted, inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { fill, pinnedRoot } from '../../../test/roots.ts'
import type { OpRequest, Op } from '../worker/protocol.ts'
import { rollBackUnfinished } from './in-place.ts'

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(async () => {
  vi.useRealTimers()
  await files.close()
})

const program = join(import.meta.dirname, '../../../test/file-worker/killed.ts')

/** Runs an operation in a process that is killed in the middle, then advances the clock. */
function runAndKill<O extends Op>(
  op: O,
  ask: OpRequest<O>,
  body: string,
  killPoint: Pick<KillPoint, 'functionName' | 'when' | 'subject'>,
): void {
  const run = { folders: { setup: files.setup }, op, ask, body, ...killPoint }
  const { signal, stderr } = spawnSync(process.execPath, [program, JSON.stringify(run)], {
    encoding: 'utf8',
  })
  if (signal !== 'SIGKILL') throw new Error(`the process was not killed: ${stderr}`)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 })
}

const inside = (path: string) => join(files.workspace, path)
const pathInGrant = (path: string) => join(files.granted, path)
const readText = async (path: string) =>
  (await files.run('read', { at: granted(path), maxBytes: 100 })).body?.toString()
const beforeRename = { functionName: 'renameSync', when: 'before' } as const
const afterRename = { functionName: 'renameSync', when: 'after' } as const
const beforeUnlink = { functionName: 'unlinkSync', when: 'before' } as const

test('TR1 leaves nothing in the trash when killed before the move', async () => {
  files.put({ 'a.md': 'precious' })
  const ask = { at: inWorkspace('a.md'), id: 'id-1', record: { path: 'a.md' } }
  runAndKill('trash', ask, '', beforeRename)
  expect((await files.run('listTrash', {})).records).toEqual([])
  expect(fs.readFileSync(inside('a.md'), 'utf8')).toBe('precious')
  expect(await files.refusal('restore', { id: 'id-1', to: inWorkspace('b.md') })).toBe('not_found')
})

test.each(['a.md', 'f'])(
  'FT5 a move killed before the rename can be repeated: %s',
  async (name) => {
    files.put({ 'a.md': 'precious', 'f/b.md': 'b' })
    const ask = { from: inWorkspace(name), to: inWorkspace('new') }
    runAndKill('move', ask, '', beforeRename)
    await files.run('move', ask)
    expect(fs.existsSync(inside(name))).toBe(false)
    expect(fs.readdirSync(files.workspace)).toHaveLength(2)
  },
)

test('FT5 a placeholder left by a crash does not block the name', async () => {
  fill(files.granted, { 'a.md': 'precious' })
  const to = granted('new.md')
  runAndKill('move', { from: granted('a.md'), to }, '', beforeRename)
  await files.run('write', { at: to, writeMode: 'create', encoding: 'utf-8' }, 'another')
  expect(fs.readdirSync(files.granted).toSorted()).toEqual(['a.md', 'new.md'])
  expect(await readText('new.md')).toBe('another')
})

test('FT5 the file is readable when killed right after the move', async () => {
  fill(files.granted, { 'a.md': 'precious' })
  runAndKill('move', { from: granted('a.md'), to: granted('new.md') }, '', afterRename)
  expect(await readText('new.md')).toBe('precious')
  expect(await files.refusal('read', { at: granted('a.md'), maxBytes: 9 })).toBe('not_found')
})

test('FT1 a new file is readable when killed while it is published', async () => {
  const ask = { at: granted('new.md'), writeMode: 'create', encoding: 'utf-8' } as const
  runAndKill('write', ask, 'whole', beforeUnlink)
  expect(fs.readdirSync(files.granted)).toHaveLength(2)
  expect(await readText('new.md')).toBe('whole')
  expect(fs.readdirSync(files.granted)).toEqual(['new.md'])
})

test('FT4 the file is unchanged and has no backup when killed between backup and change', async () => {
  fill(files.granted, { 'a.md': 'old' })
  const ask = { at: granted('a.md'), writeMode: 'replace', encoding: 'keep', backup: true } as const
  runAndKill('write', ask, 'new', beforeRename)
  expect(fs.existsSync(pathInGrant('a.md.bak'))).toBe(true)
  expect(await readText('a.md')).toBe('old')
  expect(fs.existsSync(pathInGrant('a.md.bak'))).toBe(false)
  const { backup } = await files.run('write', ask, 'new')
  expect([backup, await readText('a.md'), await readText('a.md.bak')]).toEqual([
    'a.md.bak',
    'new',
    'old',
  ])
})

test('FT4 file and backup are readable when killed right after the change', async () => {
  fill(files.granted, { 'a.md': 'old' })
  const ask = { at: granted('a.md'), writeMode: 'replace', encoding: 'keep', backup: true } as const
  runAndKill('write', ask, 'new', afterRename)
  expect([await readText('a.md'), await readText('a.md.bak')]).toEqual(['new', 'old'])
})

test('FT3 listing the folder cleans up too, and keeps links of other programs', async () => {
  fill(files.granted, { 'a.md': 'old', 'b.md': 'b' })
  fs.linkSync(pathInGrant('b.md'), pathInGrant('b.md.bak'))
  const ask = { at: granted('a.md'), writeMode: 'replace', encoding: 'keep', backup: true } as const
  runAndKill('write', ask, 'new', beforeRename)
  await files.run('list', { at: granted(''), recursive: true, limit: 10, ignore: false })
  const shown = fs.readdirSync(files.granted).filter((name) => !name.endsWith('.tmp'))
  expect(shown.toSorted()).toEqual(['a.md', 'b.md', 'b.md.bak'])
  expect(await readText('a.md')).toBe('old')
  expect(await files.refusal('read', { at: granted('b.md'), maxBytes: 9 })).toBe('hard_link')
})

test('PV3 a temporary name beside a file does not open a file with a third link elsewhere', async () => {
  fs.linkSync(join(files.outside, 'secret.txt'), pathInGrant('a.md'))
  fs.linkSync(pathInGrant('a.md'), pathInGrant(`.cowork-${'0'.repeat(24)}.tmp`))
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 })
  expect(await files.refusal('read', { at: granted('a.md'), maxBytes: 9 })).toBe('hard_link')
  expect(await files.refusal('read', { at: granted('a.md'), maxBytes: 9 })).toBe('hard_link')
})

test('PV3 a recent temporary name is not cleaned up', async () => {
  fill(files.granted, { 'a.md': 'old' })
  fs.linkSync(pathInGrant('a.md'), pathInGrant(`.cowork-${'0'.repeat(24)}.tmp`))
  expect(await files.refusal('read', { at: granted('a.md'), maxBytes: 9 })).toBe('hard_link')
  expect(fs.readdirSync(files.granted)).toHaveLength(2)
})

describe('a grant of one file', () => {
  const old = '0123456789'
  const at = { root: 'single', path: '' }
  const path = () => pathInGrant('one.txt')
  const listJournals = () => fs.readdirSync(join(files.top, 'versions/in-place'))
  const startNextWorker = () => rollBackUnfinished(files.context.roots, files.setup.roots)

  beforeEach(async () => {
    await files.close()
    const { setup } = files
    fs.writeFileSync(path(), old)
    const single = pinnedRoot('single', path(), { kind: 'file' })
    files = openTestOps({
      folders: { ...files, setup: { ...setup, roots: [...setup.roots, single] } },
    })
  })

  const killDuringWrite = (body: string, killPoint: Pick<KillPoint, 'functionName' | 'when'>) =>
    runAndKill('write', { at, writeMode: 'replace', encoding: 'binary' }, body, {
      ...killPoint,
      subject: String(fs.statSync(path()).ino),
    })

  test.each([
    ['longer', 'ABCDEFGHIJKLMNOP', { functionName: 'writeSync', when: 'after' }],
    ['shorter', 'ABCDE', { functionName: 'ftruncateSync', when: 'before' }],
    ['as long', 'ABCDEFGHIJ', { functionName: 'writeSync', when: 'before' }],
  ] as const)('GR6 the next worker rolls back half of a %s content', async (_, body, death) => {
    killDuringWrite(body, death)
    startNextWorker()
    expect(fs.readFileSync(path(), 'utf8')).toBe(old)
    expect(listJournals()).toEqual([])
  })

  test('GR6 keeps a complete write and a later change by another program', async () => {
    killDuringWrite('ABCDE', { functionName: 'ftruncateSync', when: 'after' })
    startNextWorker()
    expect(fs.readFileSync(path(), 'utf8')).toBe('ABCDE')
    killDuringWrite('abcdefgh', { functionName: 'writeSync', when: 'after' })
    fs.writeFileSync(path(), 'theirs')
    startNextWorker()
    expect(fs.readFileSync(path(), 'utf8')).toBe('theirs')
    expect(listJournals()).toEqual([])
  })

  test('GR6 does not roll back the write of a running worker', async () => {
    killDuringWrite('ABCDEFGHIJKLMNOP', { functionName: 'writeSync', when: 'after' })
    const half = fs.readFileSync(path(), 'utf8')
    const [name = ''] = listJournals()
    const file = join(files.top, 'versions/in-place', name)
    const journal = fs.readFileSync(file, 'utf8')
    fs.writeFileSync(file, journal.replace(/"pid":\d+/, `"pid":${process.ppid}`))
    startNextWorker()
    expect(fs.readFileSync(path(), 'utf8')).toBe(half)
    fs.writeFileSync(file, journal)
    startNextWorker()
    expect(fs.readFileSync(path(), 'utf8')).toBe(old)
  })

  test('GR6 rolls back if another process reuses the process id of the worker', async () => {
    killDuringWrite('ABCDEFGHIJKLMNOP', { functionName: 'writeSync', when: 'after' })
    const [name = ''] = listJournals()
    const file = join(files.top, 'versions/in-place', name)
    const noted = fs.readFileSync(file, 'utf8')
    fs.writeFileSync(file, noted.replace(/"pid":\d+/, `"pid":${process.ppid}`))
    const hourAgo = Date.now() / 1000 - 3600
    for (const one of [file, path()]) fs.utimesSync(one, hourAgo, hourAgo)
    startNextWorker()
    expect(fs.readFileSync(path(), 'utf8')).toBe(old)
  })

  test('GR6 keeps a file that another program truncated long afterwards', async () => {
    killDuringWrite('ABCDEFGHIJKLMNOP', { functionName: 'writeSync', when: 'after' })
    const half = fs.readFileSync(path(), 'utf8')
    const [name = ''] = listJournals()
    const hourAgo = Date.now() / 1000 - 3600
    fs.utimesSync(join(files.top, 'versions/in-place', name), hourAgo, hourAgo)
    startNextWorker()
    expect(fs.readFileSync(path(), 'utf8')).toBe(half)
  })

  test('GR6 a finished change leaves no journal, and its diff has the file name', async () => {
    const ask = { at, writeMode: 'replace', encoding: 'keep' } as const
    const { diff } = await files.run('write', ask, 'new\n')
    expect(diff).toContain('--- one.txt\n')
    const edits = [{ old: 'new', new: 'newer' }]
    expect((await files.run('edit', { at, edits })).diff).toContain('--- one.txt\n')
    expect(listJournals()).toEqual([])
  })
})
