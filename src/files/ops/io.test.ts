import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { fill, pinnedRoot, testFolders } from '../../../test/roots.ts'
import { mountSmallDisk } from '../../../test/small-disk.ts'
import type { SmallDisk } from '../../../test/small-disk.ts'
import { fsyncFolder } from './io.ts'
import { withPathLock } from './path-lock.ts'

let disk: SmallDisk
let files: TestOps
const inside = (path: string) => join(disk.path, 'workspace', path)
const old = 'the old text\n'

beforeEach(() => {
  const folders = testFolders()
  disk = mountSmallDisk(join(folders.top, 'disk'), 256)
  for (const name of ['workspace', 'versions']) fs.mkdirSync(join(disk.path, name))
  fill(join(disk.path, 'workspace'), { 'a.md': old })
  const roots = ['workspace', 'versions'].map((key) => folders.root(key, join(disk.path, key)))
  const single = pinnedRoot('single', inside('a.md'), { kind: 'file' })
  files = openTestOps({ folders, roots: [...roots, single] })
})
afterEach(async () => {
  await files.close()
  disk.remove()
})

/** Fills the disk up to the given number of free bytes. */
function fillDisk(left: number): void {
  const { bavail, bsize } = fs.statfsSync(disk.path)
  fs.writeFileSync(join(disk.path, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - left)))
}

const everything = () => fs.readdirSync(disk.path, { recursive: true, encoding: 'utf8' }).toSorted()
const large = Buffer.alloc(128 * 1024, 'x')
const replace = { at: inWorkspace('a.md'), writeMode: 'replace', encoding: 'utf-8' } as const

test('N31 keeps the old content on a full disk and leaves nothing else', async () => {
  fillDisk(64 * 1024)
  const before = everything()
  expect(await files.refusal('write', { ...replace, backup: true }, large)).toBe('disk_full')
  expect(
    await files.refusal(
      'write',
      { ...replace, at: inWorkspace('new.md'), writeMode: 'create' },
      large,
    ),
  ).toBe('disk_full')
  const edits = [{ old: 'old', new: large.toString() }]
  expect(await files.refusal('edit', { at: replace.at, edits })).toBe('disk_full')
  expect(fs.readFileSync(inside('a.md'), 'utf8')).toBe(old)
  expect(
    everything().filter((name) => !before.includes(name) && !name.startsWith('versions')),
  ).toEqual([])
  expect(everything().filter((name) => name.includes('.tmp'))).toEqual([])
})

test('N31 keeps a granted file that is written in place on a full disk', async () => {
  fillDisk(64 * 1024)
  const ask = { ...replace, at: { root: 'single', path: '' } }
  expect(await files.refusal('write', ask, large)).toBe('disk_full')
  expect(fs.readFileSync(inside('a.md'), 'utf8')).toBe(old)
})

test('N31 does not change a file whose version cannot be stored', async () => {
  // Enough space for the new file, but not for the stored version.
  fs.writeFileSync(inside('large.md'), large)
  fillDisk(40 * 1024)
  const ask = { ...replace, at: inWorkspace('large.md') }
  expect(await files.refusal('write', ask, 'small')).toBe('disk_full')
  expect(fs.readFileSync(inside('large.md')).equals(large)).toBe(true)
})

test('N31 the same write succeeds once there is space', async () => {
  fillDisk(0)
  expect(await files.refusal('write', replace, large)).toBe('disk_full')
  fs.rmSync(join(disk.path, 'ballast'))
  await files.run('write', replace, large)
  expect(fs.readFileSync(inside('a.md')).equals(large)).toBe(true)
})

test('N31 every change on a read-only disk fails with read_only_disk', async () => {
  disk.setReadOnly()
  const codes = [
    await files.refusal('write', replace, 'new'),
    await files.refusal(
      'write',
      { ...replace, at: inWorkspace('new/b.md'), writeMode: 'create' },
      'new',
    ),
    await files.refusal('edit', { at: replace.at, edits: [{ old: 'old', new: 'new' }] }),
    await files.refusal('move', { from: replace.at, to: inWorkspace('b.md') }),
    await files.refusal('copy', { from: replace.at, to: inWorkspace('b.md') }),
    await files.refusal('writeInternalFile', { name: 'index.json' }, '{}'),
  ]
  expect(codes).toEqual(Array.from({ length: 6 }, () => 'read_only_disk'))
  expect(fs.readFileSync(inside('a.md'), 'utf8')).toBe(old)
})

test('FT10 operations on one key run in sequence, also after a failure', async () => {
  const steps: string[] = []
  const work = (name: string, fails = false) =>
    withPathLock(['/key'], async () => {
      steps.push(`${name} begins`)
      await new Promise((resolve) => setImmediate(resolve))
      steps.push(`${name} ends`)
      if (fails) throw new Error(name)
    })
  await Promise.allSettled([work('a'), work('b', true), work('c')])
  expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('FT1 a disk that cannot sync folders does not fail a write', async () => {
  // fsync in /proc fails with EINVAL, as on some network file systems.
  await fsyncFolder('/proc/self')
  await expect(fsyncFolder('/proc/self/no-such')).rejects.toThrow('ENOENT')
})
