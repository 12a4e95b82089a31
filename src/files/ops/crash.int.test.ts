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

/** An operation in a process of its own, which is killed in the middle; then a while passes. */
function killed<O extends Op>(
  op: O,
  ask: OpRequest<O>,
  body: string,
  death: Pick<KillPoint, 'functionName' | 'when' | 'subject'>,
): void {
  const given = { folders: { setup: files.setup }, op, ask, body, ...death }
  const { signal, stderr } = spawnSync(process.execPath, [program, JSON.stringify(given)], {
    encoding: 'utf8',
  })
  if (signal !== 'SIGKILL') throw new Error(`it was not killed: ${stderr}`)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 })
}

const inside = (path: string) => join(files.workspace, path)
const theirs = (path: string) => join(files.granted, path)
const text = async (path: string) =>
  (await files.run('read', { at: granted(path), maxBytes: 100 })).body?.toString()
const beforeRename = { functionName: 'renameSync', when: 'before' } as const
const afterRename = { functionName: 'renameSync', when: 'after' } as const
const beforeUnlink = { functionName: 'unlinkSync', when: 'before' } as const

test('TR1 killed before a file comes into the trash, nothing is in the trash', async () => {
  files.put({ 'a.md': 'precious' })
  const ask = { at: inWorkspace('a.md'), id: 'id-1', record: { path: 'a.md' } }
  killed('trash', ask, '', beforeRename)
  expect((await files.run('listTrash', {})).records).toEqual([])
  expect(fs.readFileSync(inside('a.md'), 'utf8')).toBe('precious')
  expect(await files.refusal('restore', { id: 'id-1', to: inWorkspace('b.md') })).toBe('not_found')
})

test.each(['a.md', 'f'])('FT5 killed before a move, it can be repeated: %s', async (name) => {
  files.put({ 'a.md': 'precious', 'f/b.md': 'b' })
  const ask = { from: inWorkspace(name), to: inWorkspace('new') }
  killed('move', ask, '', beforeRename)
  await files.run('move', ask)
  expect(fs.existsSync(inside(name))).toBe(false)
  expect(fs.readdirSync(files.workspace)).toHaveLength(2)
})

test('FT5 what holds a name after a crash is in nobody’s way', async () => {
  fill(files.granted, { 'a.md': 'precious' })
  const to = granted('new.md')
  killed('move', { from: granted('a.md'), to }, '', beforeRename)
  await files.run('write', { at: to, writeMode: 'create', encoding: 'utf-8' }, 'another')
  expect(fs.readdirSync(files.granted).toSorted()).toEqual(['a.md', 'new.md'])
  expect(await text('new.md')).toBe('another')
})

test('FT5 killed after a move, what was moved is readable', async () => {
  fill(files.granted, { 'a.md': 'precious' })
  killed('move', { from: granted('a.md'), to: granted('new.md') }, '', afterRename)
  expect(await text('new.md')).toBe('precious')
  expect(await files.refusal('read', { at: granted('a.md'), maxBytes: 9 })).toBe('not_found')
})

test('FT1 killed while a new file gets its name, it is readable', async () => {
  const ask = { at: granted('new.md'), writeMode: 'create', encoding: 'utf-8' } as const
  killed('write', ask, 'whole', beforeUnlink)
  expect(fs.readdirSync(files.granted)).toHaveLength(2)
  expect(await text('new.md')).toBe('whole')
  expect(fs.readdirSync(files.granted)).toEqual(['new.md'])
})

test('FT4 killed between backup and change, the file is as it was and has no backup', async () => {
  fill(files.granted, { 'a.md': 'old' })
  const ask = { at: granted('a.md'), writeMode: 'replace', encoding: 'keep', backup: true } as const
  killed('write', ask, 'new', beforeRename)
  expect(fs.existsSync(theirs('a.md.bak'))).toBe(true)
  expect(await text('a.md')).toBe('old')
  expect(fs.existsSync(theirs('a.md.bak'))).toBe(false)
  const { backup } = await files.run('write', ask, 'new')
  expect([backup, await text('a.md'), await text('a.md.bak')]).toEqual(['a.md.bak', 'new', 'old'])
})

test('FT4 killed right after the change, both are readable', async () => {
  fill(files.granted, { 'a.md': 'old' })
  const ask = { at: granted('a.md'), writeMode: 'replace', encoding: 'keep', backup: true } as const
  killed('write', ask, 'new', afterRename)
  expect([await text('a.md'), await text('a.md.bak')]).toEqual(['new', 'old'])
})

test('FT3 a look at the folder puts the same right, and leaves names that others gave', async () => {
  fill(files.granted, { 'a.md': 'old', 'b.md': 'b' })
  fs.linkSync(theirs('b.md'), theirs('b.md.bak'))
  const ask = { at: granted('a.md'), writeMode: 'replace', encoding: 'keep', backup: true } as const
  killed('write', ask, 'new', beforeRename)
  await files.run('list', { at: granted(''), recursive: true, limit: 10, ignore: false })
  const shown = fs.readdirSync(files.granted).filter((name) => !name.endsWith('.tmp'))
  expect(shown.toSorted()).toEqual(['a.md', 'b.md', 'b.md.bak'])
  expect(await text('a.md')).toBe('old')
  expect(await files.refusal('read', { at: granted('b.md'), maxBytes: 9 })).toBe('hard_link')
})

test('PV3 an unfinished name beside a file opens nothing that has a third name elsewhere', async () => {
  fs.linkSync(join(files.outside, 'secret.txt'), theirs('a.md'))
  fs.linkSync(theirs('a.md'), theirs(`.cowork-${'0'.repeat(24)}.tmp`))
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 })
  expect(await files.refusal('read', { at: granted('a.md'), maxBytes: 9 })).toBe('hard_link')
  expect(await files.refusal('read', { at: granted('a.md'), maxBytes: 9 })).toBe('hard_link')
})

test('PV3 in the moment in which it is made it is nobody’s leftover', async () => {
  fill(files.granted, { 'a.md': 'old' })
  fs.linkSync(theirs('a.md'), theirs(`.cowork-${'0'.repeat(24)}.tmp`))
  expect(await files.refusal('read', { at: granted('a.md'), maxBytes: 9 })).toBe('hard_link')
  expect(fs.readdirSync(files.granted)).toHaveLength(2)
})

describe('a grant of one file', () => {
  const old = '0123456789'
  const at = { root: 'single', path: '' }
  const path = () => theirs('one.txt')
  const notes = () => fs.readdirSync(join(files.top, 'versions/in-place'))
  const next = () => rollBackUnfinished(files.context.roots, files.setup.roots)

  beforeEach(async () => {
    await files.close()
    const { setup } = files
    fs.writeFileSync(path(), old)
    const single = pinnedRoot('single', path(), { kind: 'file' })
    files = openTestOps({
      folders: { ...files, setup: { ...setup, roots: [...setup.roots, single] } },
    })
  })

  const cut = (body: string, death: Pick<KillPoint, 'functionName' | 'when'>) =>
    killed('write', { at, writeMode: 'replace', encoding: 'binary' }, body, {
      ...death,
      subject: String(fs.statSync(path()).ino),
    })

  test.each([
    ['longer', 'ABCDEFGHIJKLMNOP', { functionName: 'writeSync', when: 'after' }],
    ['shorter', 'ABCDE', { functionName: 'ftruncateSync', when: 'before' }],
    ['as long', 'ABCDEFGHIJ', { functionName: 'writeSync', when: 'before' }],
  ] as const)('GR6 half of a %s content is undone by the next worker', async (_, body, death) => {
    cut(body, death)
    next()
    expect(fs.readFileSync(path(), 'utf8')).toBe(old)
    expect(notes()).toEqual([])
  })

  test('GR6 what was written whole stays, and so does what somebody wrote since', async () => {
    cut('ABCDE', { functionName: 'ftruncateSync', when: 'after' })
    next()
    expect(fs.readFileSync(path(), 'utf8')).toBe('ABCDE')
    cut('abcdefgh', { functionName: 'writeSync', when: 'after' })
    fs.writeFileSync(path(), 'theirs')
    next()
    expect(fs.readFileSync(path(), 'utf8')).toBe('theirs')
    expect(notes()).toEqual([])
  })

  test('GR6 a worker that is alive finishes what it does', async () => {
    cut('ABCDEFGHIJKLMNOP', { functionName: 'writeSync', when: 'after' })
    const half = fs.readFileSync(path(), 'utf8')
    const [name = ''] = notes()
    const file = join(files.top, 'versions/in-place', name)
    const noted = fs.readFileSync(file, 'utf8')
    fs.writeFileSync(file, noted.replace(/"pid":\d+/, `"pid":${process.ppid}`))
    next()
    expect(fs.readFileSync(path(), 'utf8')).toBe(half)
    fs.writeFileSync(file, noted)
    next()
    expect(fs.readFileSync(path(), 'utf8')).toBe(old)
  })

  test('GR6 another process may have the number of a worker that is long gone', async () => {
    cut('ABCDEFGHIJKLMNOP', { functionName: 'writeSync', when: 'after' })
    const [name = ''] = notes()
    const file = join(files.top, 'versions/in-place', name)
    const noted = fs.readFileSync(file, 'utf8')
    fs.writeFileSync(file, noted.replace(/"pid":\d+/, `"pid":${process.ppid}`))
    const hourAgo = Date.now() / 1000 - 3600
    for (const one of [file, path()]) fs.utimesSync(one, hourAgo, hourAgo)
    next()
    expect(fs.readFileSync(path(), 'utf8')).toBe(old)
  })

  test('GR6 what somebody shortened long after is theirs, whatever it looks like', async () => {
    cut('ABCDEFGHIJKLMNOP', { functionName: 'writeSync', when: 'after' })
    const half = fs.readFileSync(path(), 'utf8')
    const [name = ''] = notes()
    const hourAgo = Date.now() / 1000 - 3600
    fs.utimesSync(join(files.top, 'versions/in-place', name), hourAgo, hourAgo)
    next()
    expect(fs.readFileSync(path(), 'utf8')).toBe(half)
  })

  test('GR6 a change that is done leaves no note, and its diff has the name of the file', async () => {
    const ask = { at, writeMode: 'replace', encoding: 'keep' } as const
    const { diff } = await files.run('write', ask, 'new\n')
    expect(diff).toContain('--- one.txt\n')
    const edits = [{ old: 'new', new: 'newer' }]
    expect((await files.run('edit', { at, edits })).diff).toContain('--- one.txt\n')
    expect(notes()).toEqual([])
  })
})
