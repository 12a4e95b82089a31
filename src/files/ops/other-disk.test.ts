import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { testFolders } from '../../../test/roots.ts'
import { mountSmallDisk } from '../../../test/small-disk.ts'
import type { SmallDisk } from '../../../test/small-disk.ts'
import { unprivileged } from '../../../test/unprivileged.ts'
import { toFileError } from '../confine/file-error.ts'
import type { ExpectedResult } from '../worker/protocol.ts'
import { ops } from './index.ts'
import { removeTempFiles } from './atomic-publish.ts'

let disk: SmallDisk
let files: TestOps
beforeEach(() => {
  const folders = testFolders()
  disk = mountSmallDisk(join(folders.top, 'disk'), 2048)
  const roots = [...folders.setup.roots, folders.root('other', disk.path)]
  files = openTestOps({ folders, roots })
})
afterEach(async () => {
  await files.close()
  disk.remove()
})

const inside = (path: string) => join(files.workspace, path)
const there = (path: string) => join(disk.path, path)

/** Moves to the other disk while somebody acts once, as soon as `when` holds; answers the code it is refused with. */
async function movedWhile(path: string, when: () => boolean, act: () => void) {
  let isDone = false
  const turn = async () => {
    if (isDone || !when()) return
    isDone = true
    act()
  }
  const ask = { from: inWorkspace(path), to: { root: 'other', path } }
  const moving = Promise.resolve(
    ops.move({ ...files.context, yieldIfDue: turn }, ask, Buffer.alloc(0), () => false),
  )
  const code = await moving.then(
    () => 'moved',
    (error: unknown) => toFileError(error).code,
  )
  expect(isDone).toBe(true)
  return code
}

/** The folder that the copy is made in, until it is whole. */
const copying = () =>
  fs.readdirSync(disk.path).find((name) => name.startsWith('.cowork-')) ?? 'none'
const isCopied = (path: string) => fs.existsSync(there(`${copying()}/${path}`))

describe('a folder that is changed while it is moved to another disk', () => {
  test('TR2 a file that was copied already and is then written to is not lost', async () => {
    files.put({ 'f/a/one.md': 'one', 'f/b/two.md': 'two' })
    const first = () => ['a/one.md', 'b/two.md'].find(isCopied)
    const code = await movedWhile(
      'f',
      () => first() !== undefined,
      () => fs.writeFileSync(inside(`f/${first()}`), 'saved meanwhile'),
    )
    expect(code).toBe('stale')
    const kept = ['a/one.md', 'b/two.md'].map((path) =>
      fs.readFileSync(inside(`f/${path}`), 'utf8'),
    )
    expect(kept).toContain('saved meanwhile')
    expect(kept.some((text) => text === 'one' || text === 'two')).toBe(true)
    expect(fs.readdirSync(disk.path)).toEqual([])
  })

  test('TR2 a file that comes to a folder that was copied already is not lost', async () => {
    files.put({ 'f/a/one.md': 'one', 'f/b/two.md': 'two' })
    const first = () => (isCopied('a/one.md') ? 'a' : isCopied('b/two.md') ? 'b' : undefined)
    const code = await movedWhile(
      'f',
      () => first() !== undefined,
      () => fs.writeFileSync(inside(`f/${first()}/new.md`), 'new'),
    )
    expect(code).toBe('stale')
    const names = ['a', 'b'].flatMap((folder) => fs.readdirSync(inside(`f/${folder}`)))
    expect(names.toSorted()).toEqual(['new.md', 'one.md', 'two.md'])
    expect(fs.readdirSync(disk.path)).toEqual([])
  })

  test('TR2 what changes when the old files are being removed stays, and the copy does too', async () => {
    files.put({ 'f/a/one.md': 'one', 'f/b/two.md': 'two' })
    const left = () => ['a/one.md', 'b/two.md'].filter((path) => fs.existsSync(inside(`f/${path}`)))
    const code = await movedWhile(
      'f',
      () => left().length === 1,
      () => fs.writeFileSync(inside(`f/${left()[0]}`), 'saved meanwhile'),
    )
    expect(code).toBe('stale')
    expect(fs.readFileSync(inside(`f/${left()[0]}`), 'utf8')).toBe('saved meanwhile')
    expect(fs.readFileSync(there('f/a/one.md'), 'utf8')).toBe('one')
    expect(fs.readFileSync(there('f/b/two.md'), 'utf8')).toBe('two')
  })

  test('TR2 of the old files only what has changed since stays, and the copy is whole', async () => {
    const names = ['a.md', 'b.md', 'c/d.md', 'e.md', 'f.md']
    files.put(Object.fromEntries(names.map((name) => [`f/${name}`, 'old'])))
    const left = () => names.filter((name) => fs.existsSync(inside(`f/${name}`)))
    let changed = ''
    const code = await movedWhile(
      'f',
      () => left().length === 4,
      () => {
        changed = left()[0] ?? ''
        fs.writeFileSync(inside(`f/${changed}`), 'saved meanwhile')
      },
    )
    expect(code).toBe('stale')
    expect(left()).toEqual([changed])
    expect(fs.readFileSync(inside(`f/${changed}`), 'utf8')).toBe('saved meanwhile')
    for (const name of names) expect(fs.readFileSync(there(`f/${name}`), 'utf8')).toBe('old')
  })
})

test('TR2 a move to another disk that nobody waits for any longer leaves nothing half done', async () => {
  files.put({ 'f/a/one.md': 'one', 'f/b/two.md': 'two' })
  const ask = { from: inWorkspace('f'), to: { root: 'other', path: 'f' } }
  const isOver = () => isCopied('a/one.md') || isCopied('b/two.md')
  const moving = Promise.resolve(ops.move(files.context, ask, Buffer.alloc(0), isOver))
  await expect(moving).rejects.toMatchObject({ code: 'cancelled' })
  expect(fs.readdirSync(disk.path)).toEqual([])
  expect(fs.readFileSync(inside('f/a/one.md'), 'utf8')).toBe('one')
  expect(fs.readFileSync(inside('f/b/two.md'), 'utf8')).toBe('two')
})

test.each(['f', 'one.md'])(
  'TR2 before its copy is whole nobody is told what a move comes to: %s',
  async (name) => {
    files.put({ 'f/a/one.md': 'one', 'one.md': 'one' })
    let whole: string | undefined
    const entered = async () => {
      whole = fs.readFileSync(there(name === 'f' ? `${copying()}/a/one.md` : copying()), 'utf8')
      expect(fs.existsSync(there(name))).toBe(false)
    }
    const ask = { from: inWorkspace(name), to: { root: 'other', path: name } }
    await ops.move({ ...files.context, waitForEntry: entered }, ask, Buffer.alloc(0), () => false)
    expect(whole).toBe('one')
    expect(fs.readdirSync(disk.path)).toEqual([name])
  },
)

test.each(['f', 'one.md'])(
  'PV6 what came to another disk is seen by whoever looks for it, when it is gone from where it was: %s',
  async (name) => {
    files.put({ 'f/a/one.md': 'one', 'one.md': 'one' })
    const other = { root: 'other', path: name }
    const signs: ExpectedResult['fingerprint'][] = []
    const seen: boolean[] = []
    const look = async () => {
      for (const sign of signs) seen.push((await files.run('verifyResult', sign)).isApplied)
    }
    const entered = async (outlook?: ExpectedResult) =>
      void (outlook && signs.push(outlook.fingerprint))
    const context = { ...files.context, waitForEntry: entered }
    const removed = vi.spyOn(fs, 'unlinkSync').mockImplementationOnce(() => {
      throw Object.assign(new Error('busy'), { code: 'EBUSY' })
    })
    const move = () =>
      ops.move(context, { from: inWorkspace(name), to: other }, Buffer.alloc(0), () => false)
    if (name === 'f') {
      const message = expect.stringContaining(
        'could not be removed. The copy is complete',
      ) as string
      await expect(move()).rejects.toMatchObject({ code: 'no_permission', message })
      expect(fs.existsSync(there('f/a/one.md'))).toBe(true)
      await look()
      fs.rmSync(there('f'), { recursive: true })
    }
    removed.mockRestore()
    signs.length = 0
    await move()
    await look()
    expect(seen).toEqual(name === 'f' ? [false, true] : [true])
  },
)

test('PV6 a worker that goes while it takes away a copy leaves nothing of it', async () => {
  files.put({ 'f/a/one.md': 'one', 'f/b/two.md': 'two' })
  let left: string[] | undefined
  const isWhole = () => isCopied('a/one.md') && isCopied('b/two.md')
  let isOver = false
  const turn = async () => {
    if (isWhole()) isOver = true
    else if (isOver && left === undefined) {
      removeTempFiles()
      left = fs.readdirSync(disk.path)
    }
  }
  const ask = { from: inWorkspace('f'), to: { root: 'other', path: 'f' } }
  const moving = ops.move(
    { ...files.context, yieldIfDue: turn },
    ask,
    Buffer.alloc(0),
    () => isOver,
  )
  await expect(moving).rejects.toBeInstanceOf(Error)
  expect(left).toEqual([])
})

test.each(['f', 'one.md'])(
  'PV6 a worker that goes at once takes with it what it has copied: %s',
  async (name) => {
    files.put({ 'f/a/one.md': 'one', 'f/b/two.md': 'two', 'one.md': 'x'.repeat(1_500_000) })
    const isBegun = () => name === 'one.md' || isCopied('a/one.md') || isCopied('b/two.md')
    let left: string[] | undefined
    await movedWhile(
      name,
      () => copying() !== 'none' && isBegun(),
      () => {
        removeTempFiles()
        left = fs.readdirSync(disk.path)
      },
    )
    expect(left).toEqual([])
    expect(fs.existsSync(inside(name))).toBe(true)
  },
)

test('TR1 what was copied out of the trash is not listed while it goes from there', async () => {
  files.put({ 'f/a.md': 'a', 'f/b.md': 'b' })
  await files.run('trash', { at: inWorkspace('f'), id: 'id-1', record: { path: 'f' } })
  const item = join(files.top, 'trash/id-1')
  const left = () => (fs.existsSync(item) ? fs.readdirSync(item, { recursive: true }) : [])
  const isPart = () => fs.existsSync(there('f')) && left().length < 4
  let listed: readonly unknown[] | undefined
  const turn = async () => {
    if (isPart()) listed ??= (await files.run('listTrash', {})).records
  }
  const ask = { id: 'id-1', to: { root: 'other', path: 'f' } }
  await ops.restore({ ...files.context, yieldIfDue: turn }, ask, Buffer.alloc(0), () => false)
  expect(listed).toEqual([])
  expect(fs.existsSync(item)).toBe(false)
  expect(fs.readdirSync(there('f')).toSorted()).toEqual(['a.md', 'b.md'])
})

test('TR1 a file that cannot be taken from its folder leaves no copy in the trash', async () => {
  fs.mkdirSync(there('ro'))
  fs.writeFileSync(there('ro/a.md'), 'precious')
  fs.chmodSync(there('ro'), 0o555)
  const ask = { at: { root: 'other', path: 'ro/a.md' }, id: 'id-1', record: { path: 'a' } }
  expect(await unprivileged(() => files.refusal('trash', ask))).toBe('no_permission')
  expect(fs.readdirSync(join(files.top, 'trash'))).toEqual([])
  expect(fs.readFileSync(there('ro/a.md'), 'utf8')).toBe('precious')
})

test('F5 what cannot be changed where it is comes from another disk without being run', async () => {
  fs.mkdirSync(there('f'))
  for (const path of ['a.py', 'f/b.py']) {
    fs.writeFileSync(there(path), 'x', { mode: 0o755 })
    fs.chownSync(there(path), 1234, 1234)
  }
  for (const path of ['a.py', 'f']) {
    const ask = { from: { root: 'other', path }, to: inWorkspace(path) }
    await unprivileged(() => files.run('move', ask))
  }
  for (const path of ['a.py', 'f/b.py']) expect(fs.statSync(inside(path)).mode & 0o777).toBe(0o644)
  expect(fs.readdirSync(disk.path)).toEqual([])
})

test('TR2 names that are no text go to another disk as they are', async () => {
  files.put({ 'f/a.md': 'a' })
  const odd = (folder: string, ...bytes: number[]) =>
    Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.of(...bytes)])
  fs.writeFileSync(odd(inside('f'), 0xe8), 'file')
  fs.writeFileSync(odd(inside('f'), 0xe9), 'another')
  fs.mkdirSync(odd(inside('f'), 0xea))
  fs.writeFileSync(Buffer.concat([odd(inside('f'), 0xea), Buffer.from('/in.md')]), 'in it')
  fs.symlinkSync(odd('.', 0xe8), odd(inside('f'), 0xeb))
  await files.run('trash', { at: inWorkspace('f'), id: 'id-1', record: { path: 'f' } })
  await files.run('restore', { id: 'id-1', to: { root: 'other', path: 'f' } })
  await files.run('move', { from: { root: 'other', path: 'f' }, to: inWorkspace('g') })
  expect(fs.readdirSync(inside('g'))).toHaveLength(5)
  expect(fs.readFileSync(odd(inside('g'), 0xe9), 'utf8')).toBe('another')
  expect(fs.readFileSync(odd(inside('g'), 0xeb), 'utf8')).toBe('file')
  const inner = Buffer.concat([odd(inside('g'), 0xea), Buffer.from('/in.md')])
  expect(fs.readFileSync(inner, 'utf8')).toBe('in it')
})

test('PV9 on a disk that is mounted inside no folder is made on the way', async () => {
  const inner = mountSmallDisk(inside('mounted'), 64)
  try {
    const at = inWorkspace('mounted/new/deep/a.md')
    const write = { at, writeMode: 'put', encoding: 'utf-8' } as const
    expect(await files.refusal('write', write, 'text')).toBe('other_device')
    expect(fs.readdirSync(inner.path)).toEqual([])
  } finally {
    inner.remove()
  }
})
