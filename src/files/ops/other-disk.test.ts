import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { testFolders } from '../../../test/roots.ts'
import { mountSmallDisk } from '../../../test/small-disk.ts'
import type { SmallDisk } from '../../../test/small-disk.ts'
import { faultOf } from '../confine/fault.ts'
import { ops } from './index.ts'

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
    ops.move({ ...files.context, turn }, ask, Buffer.alloc(0), () => false),
  )
  const code = await moving.then(
    () => 'moved',
    (error: unknown) => faultOf(error).code,
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

test('PV9 on a disk that is mounted inside no folder is made on the way', async () => {
  const inner = mountSmallDisk(inside('mounted'), 64)
  try {
    const at = inWorkspace('mounted/new/deep/a.md')
    const write = { at, how: 'put', encoding: 'utf-8' } as const
    expect(await files.refusal('write', write, 'text')).toBe('other_device')
    expect(fs.readdirSync(inner.path)).toEqual([])
  } finally {
    inner.remove()
  }
})
