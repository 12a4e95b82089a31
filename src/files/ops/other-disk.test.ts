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
const onDisk = (path: string) => join(disk.path, path)

/** Moves to the other disk, runs `act` once as soon as `when` holds, and returns the error code. */
async function moveWhile(path: string, when: () => boolean, act: () => void) {
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

/** The temporary folder of the copy. */
const findCopyFolder = () =>
  fs.readdirSync(disk.path).find((name) => name.startsWith('.cowork-')) ?? 'none'
const isCopied = (path: string) => fs.existsSync(onDisk(`${findCopyFolder()}/${path}`))

describe('a folder that changes during a move to another disk', () => {
  test('TR2 keeps a change to a file that was already copied', async () => {
    files.put({ 'f/a/one.md': 'one', 'f/b/two.md': 'two' })
    const first = () => ['a/one.md', 'b/two.md'].find(isCopied)
    const code = await moveWhile(
      'f',
      () => first() !== undefined,
      () => fs.writeFileSync(inside(`f/${first()}`), 'saved by an editor'),
    )
    expect(code).toBe('stale')
    const kept = ['a/one.md', 'b/two.md'].map((path) =>
      fs.readFileSync(inside(`f/${path}`), 'utf8'),
    )
    expect(kept).toContain('saved by an editor')
    expect(kept.some((text) => text === 'one' || text === 'two')).toBe(true)
    expect(fs.readdirSync(disk.path)).toEqual([])
  })

  test('TR2 keeps a new file in a folder that was already copied', async () => {
    files.put({ 'f/a/one.md': 'one', 'f/b/two.md': 'two' })
    const first = () => (isCopied('a/one.md') ? 'a' : isCopied('b/two.md') ? 'b' : undefined)
    const code = await moveWhile(
      'f',
      () => first() !== undefined,
      () => fs.writeFileSync(inside(`f/${first()}/new.md`), 'new'),
    )
    expect(code).toBe('stale')
    const names = ['a', 'b'].flatMap((folder) => fs.readdirSync(inside(`f/${folder}`)))
    expect(names.toSorted()).toEqual(['new.md', 'one.md', 'two.md'])
    expect(fs.readdirSync(disk.path)).toEqual([])
  })

  test('TR2 keeps a file that changes during the removal, and the copy', async () => {
    files.put({ 'f/a/one.md': 'one', 'f/b/two.md': 'two' })
    const left = () => ['a/one.md', 'b/two.md'].filter((path) => fs.existsSync(inside(`f/${path}`)))
    const code = await moveWhile(
      'f',
      () => left().length === 1,
      () => fs.writeFileSync(inside(`f/${left()[0]}`), 'saved by an editor'),
    )
    expect(code).toBe('stale')
    expect(fs.readFileSync(inside(`f/${left()[0]}`), 'utf8')).toBe('saved by an editor')
    expect(fs.readFileSync(onDisk('f/a/one.md'), 'utf8')).toBe('one')
    expect(fs.readFileSync(onDisk('f/b/two.md'), 'utf8')).toBe('two')
  })

  test('TR2 keeps only changed source files, and the complete copy', async () => {
    const names = ['a.md', 'b.md', 'c/d.md', 'e.md', 'f.md']
    files.put(Object.fromEntries(names.map((name) => [`f/${name}`, 'old'])))
    const left = () => names.filter((name) => fs.existsSync(inside(`f/${name}`)))
    let changed = ''
    const code = await moveWhile(
      'f',
      () => left().length === 4,
      () => {
        changed = left()[0] ?? ''
        fs.writeFileSync(inside(`f/${changed}`), 'saved by an editor')
      },
    )
    expect(code).toBe('stale')
    expect(left()).toEqual([changed])
    expect(fs.readFileSync(inside(`f/${changed}`), 'utf8')).toBe('saved by an editor')
    for (const name of names) expect(fs.readFileSync(onDisk(`f/${name}`), 'utf8')).toBe('old')
  })
})

test('TR2 a cancelled move to another disk leaves nothing behind', async () => {
  files.put({ 'f/a/one.md': 'one', 'f/b/two.md': 'two' })
  const ask = { from: inWorkspace('f'), to: { root: 'other', path: 'f' } }
  const shouldCancel = () => isCopied('a/one.md') || isCopied('b/two.md')
  const moving = Promise.resolve(ops.move(files.context, ask, Buffer.alloc(0), shouldCancel))
  await expect(moving).rejects.toMatchObject({ code: 'cancelled' })
  expect(fs.readdirSync(disk.path)).toEqual([])
  expect(fs.readFileSync(inside('f/a/one.md'), 'utf8')).toBe('one')
  expect(fs.readFileSync(inside('f/b/two.md'), 'utf8')).toBe('two')
})

test.each(['f', 'one.md'])(
  'TR2 announces the result of a move only when the copy is complete: %s',
  async (name) => {
    files.put({ 'f/a/one.md': 'one', 'one.md': 'one' })
    let whole: string | undefined
    const entered = async () => {
      whole = fs.readFileSync(
        onDisk(name === 'f' ? `${findCopyFolder()}/a/one.md` : findCopyFolder()),
        'utf8',
      )
      expect(fs.existsSync(onDisk(name))).toBe(false)
    }
    const ask = { from: inWorkspace(name), to: { root: 'other', path: name } }
    await ops.move({ ...files.context, waitForEntry: entered }, ask, Buffer.alloc(0), () => false)
    expect(whole).toBe('one')
    expect(fs.readdirSync(disk.path)).toEqual([name])
  },
)

test.each(['f', 'one.md'])(
  'PV6 verifies a move to another disk by the target and the missing source: %s',
  async (name) => {
    files.put({ 'f/a/one.md': 'one', 'one.md': 'one' })
    const other = { root: 'other', path: name }
    const signs: ExpectedResult['fingerprint'][] = []
    const applied: boolean[] = []
    const verifyAll = async () => {
      for (const sign of signs) applied.push((await files.run('verifyResult', sign)).isApplied)
    }
    const waitForEntry = async (expected?: ExpectedResult) =>
      void (expected && signs.push(expected.fingerprint))
    const context = { ...files.context, waitForEntry }
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
      expect(fs.existsSync(onDisk('f/a/one.md'))).toBe(true)
      await verifyAll()
      fs.rmSync(onDisk('f'), { recursive: true })
    }
    removed.mockRestore()
    signs.length = 0
    await move()
    await verifyAll()
    expect(applied).toEqual(name === 'f' ? [false, true] : [true])
  },
)

test('PV6 a worker that exits while removing a copy leaves nothing of it', async () => {
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
  'PV6 a worker that exits immediately removes its partial copy: %s',
  async (name) => {
    files.put({ 'f/a/one.md': 'one', 'f/b/two.md': 'two', 'one.md': 'x'.repeat(1_500_000) })
    const isBegun = () => name === 'one.md' || isCopied('a/one.md') || isCopied('b/two.md')
    let left: string[] | undefined
    await moveWhile(
      name,
      () => findCopyFolder() !== 'none' && isBegun(),
      () => {
        removeTempFiles()
        left = fs.readdirSync(disk.path)
      },
    )
    expect(left).toEqual([])
    expect(fs.existsSync(inside(name))).toBe(true)
  },
)

test('TR1 does not list an item that is being removed after its restore', async () => {
  files.put({ 'f/a.md': 'a', 'f/b.md': 'b' })
  await files.run('trash', { at: inWorkspace('f'), id: 'id-1', record: { path: 'f' } })
  const item = join(files.top, 'trash/id-1')
  const left = () => (fs.existsSync(item) ? fs.readdirSync(item, { recursive: true }) : [])
  const isPart = () => fs.existsSync(onDisk('f')) && left().length < 4
  let listed: readonly unknown[] | undefined
  const turn = async () => {
    if (isPart()) listed ??= (await files.run('listTrash', {})).records
  }
  const ask = { id: 'id-1', to: { root: 'other', path: 'f' } }
  await ops.restore({ ...files.context, yieldIfDue: turn }, ask, Buffer.alloc(0), () => false)
  expect(listed).toEqual([])
  expect(fs.existsSync(item)).toBe(false)
  expect(fs.readdirSync(onDisk('f')).toSorted()).toEqual(['a.md', 'b.md'])
})

test('TR1 a file that cannot be removed leaves no copy in the trash', async () => {
  fs.mkdirSync(onDisk('ro'))
  fs.writeFileSync(onDisk('ro/a.md'), 'precious')
  fs.chmodSync(onDisk('ro'), 0o555)
  const ask = { at: { root: 'other', path: 'ro/a.md' }, id: 'id-1', record: { path: 'a' } }
  expect(await unprivileged(() => files.refusal('trash', ask))).toBe('no_permission')
  expect(fs.readdirSync(join(files.top, 'trash'))).toEqual([])
  expect(fs.readFileSync(onDisk('ro/a.md'), 'utf8')).toBe('precious')
})

test('F5 clears execute bits of a file with another owner moved from another disk', async () => {
  fs.mkdirSync(onDisk('f'))
  for (const path of ['a.py', 'f/b.py']) {
    fs.writeFileSync(onDisk(path), 'x', { mode: 0o755 })
    fs.chownSync(onDisk(path), 1234, 1234)
  }
  for (const path of ['a.py', 'f']) {
    const ask = { from: { root: 'other', path }, to: inWorkspace(path) }
    await unprivileged(() => files.run('move', ask))
  }
  for (const path of ['a.py', 'f/b.py']) expect(fs.statSync(inside(path)).mode & 0o777).toBe(0o644)
  expect(fs.readdirSync(disk.path)).toEqual([])
})

test('TR2 keeps invalid UTF-8 names on a move to another disk', async () => {
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

test('PV9 creates no parent folders on a mount inside the root', async () => {
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
