import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { fill } from '../../../test/roots.ts'
import { mountSmallDisk } from '../../../test/small-disk.ts'
import { ops } from './index.ts'

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(() => files.close())

const bin = (path: string) => join(files.top, 'trash', path)
const trash = (path: string, id: string) =>
  files.run('trash', { at: inWorkspace(path), id, record: { path } })
const listed = async () => (await files.run('listTrash', {})).records.map(({ id }) => id)
const hoursAgo = () => new Date(Date.now() - 2 * 60 * 60 * 1000)

test('TR1 what cannot be removed to its end is out of the trash all the same, and the others go', async () => {
  files.put({ 'a.md': '', 'b.md': '' })
  await trash('a.md', 'id-1')
  await trash('b.md', 'id-2')
  // Whatever is mounted in there is not ours to empty.
  fs.mkdirSync(bin('id-1/disk'))
  const disk = mountSmallDisk(bin('id-1/disk'), 64)
  fs.writeFileSync(bin('id-1/disk/kept'), '')
  try {
    expect(await files.run('purge', { ids: ['id-1', 'id-2'] })).toEqual({
      purged: ['id-1', 'id-2'],
      left: [bin('id-1')],
    })
    expect(await listed()).toEqual([])
    expect(fs.readdirSync(bin('id-1/disk'))).toEqual(['kept'])
  } finally {
    disk.remove()
  }
})

test('TR1 what cannot be removed holds up nothing that lies beside it or further up', async () => {
  files.put({ 'a.md': '' })
  await trash('a.md', 'id-1')
  const others = ['f/a/one.md', 'f/b/c/one.md', 'f/b/e/one.md', 'f/z.md']
  fill(bin('id-1'), Object.fromEntries(others.map((path) => [path, ''])))
  const disk = mountSmallDisk(bin('id-1/f/b/d'), 64)
  fs.writeFileSync(bin('id-1/f/b/d/kept'), '')
  const purge = () => files.run('purge', { ids: ['id-1'] })
  try {
    expect(await purge()).toEqual({ purged: ['id-1'], left: [bin('id-1')] })
    const left = fs.readdirSync(bin('id-1'), { recursive: true })
    expect(left).toEqual(['f', 'f/b', 'f/b/d', 'f/b/d/kept'])
  } finally {
    disk.remove()
  }
  await purge()
  expect(fs.readdirSync(bin(''))).toEqual([])
})

/** A purge that is ended as soon as it has removed something. */
async function endedPurge(ids: readonly string[]) {
  const turn = () => Promise.reject(new Error('the disk is gone'))
  const context = { ...files.context, yieldIfDue: turn }
  return ops.purge(context, { ids }, Buffer.alloc(0), () => false)
}

test('TR1 half of what is purged is never listed or restored, and goes when nobody is at it', async () => {
  files.put({ 'f/a.md': 'a', 'f/b.md': 'b' })
  await trash('f', 'id-1')
  expect(await endedPurge(['id-1'])).toEqual({ purged: ['id-1'], left: [bin('id-1')] })
  expect(fs.readdirSync(bin(''))).toEqual(['id-1'])
  expect(await listed()).toEqual([])
  expect(await files.refusal('restore', { id: 'id-1', to: inWorkspace('f') })).toBe('not_found')
  expect(fs.readdirSync(files.workspace)).toEqual([])
  fs.utimesSync(bin('id-1'), hoursAgo(), hoursAgo())
  expect(await listed()).toEqual([])
  expect(fs.readdirSync(bin(''))).toEqual([])
})

test('TR1 what is half purged goes with the next purge, too', async () => {
  files.put({ 'f/a.md': 'a', 'f/b.md': 'b' })
  await trash('f', 'id-1')
  await endedPurge(['id-1'])
  await files.run('purge', { ids: ['id-1'] })
  expect(fs.readdirSync(bin(''))).toEqual([])
})

test('TR1 a purge that nobody waits for any longer stops, and says what is purged', async () => {
  files.put({ 'a.md': '', 'f/a.md': 'a', 'f/b.md': 'b', 'c.md': '' })
  const ids = ['id-1', 'id-2', 'id-3']
  for (const [at, path] of ['a.md', 'f', 'c.md'].entries()) await trash(path, `id-${at + 1}`)
  let isLate = false
  const turn = async () => {
    isLate = !fs.existsSync(bin('id-1'))
  }
  const context = { ...files.context, yieldIfDue: turn }
  const answer = await ops.purge(context, { ids }, Buffer.alloc(0), () => isLate)
  expect(answer).toEqual({ purged: ['id-1', 'id-2'], left: [bin('id-2')] })
  expect(await listed()).toEqual(['id-3'])
})

test('TR1 nothing is said of a trash that is not there, or another by now', async () => {
  const moved = join(files.top, 'moved')
  fs.renameSync(bin(''), moved)
  const refused = { code: 'unreadable', message: expect.stringContaining('The trash is no longer') }
  const purge = () => files.run('purge', { ids: ['id-1'] })
  await expect(purge()).rejects.toMatchObject(refused)
  fs.mkdirSync(bin(''))
  await expect(purge()).rejects.toMatchObject(refused)
})

test('TR1 what somebody put into the trash that is no folder goes when it is asked for', async () => {
  fill(bin(''), { 'id-1': 'theirs' })
  fs.symlinkSync(files.outside, bin('id-2'))
  await files.run('purge', { ids: ['id-1', 'id-2'] })
  expect(fs.readdirSync(bin(''))).toEqual([])
  expect(fs.readdirSync(files.outside)).toEqual(['secret.txt'])
})

test('TR1 what is not in the trash any more is not said to be purged', async () => {
  files.put({ 'a.md': 'a', 'b.md': 'b' })
  await trash('a.md', 'id-1')
  await trash('b.md', 'id-2')
  await files.run('restore', { id: 'id-1', to: inWorkspace('a.md') })
  expect((await files.run('purge', { ids: ['id-1', 'id-2'] })).purged).toEqual(['id-2'])
})

test('TR1 what was cut off leaves no record for ever', async () => {
  fill(bin(''), { 'old/record.json': '{"path":"a"}', 'new/record.json': '{"path":"b"}' })
  fill(bin(''), { 'odd/record.json': 'not json', 'odd/content': 'precious' })
  for (const id of ['old', 'odd']) fs.utimesSync(bin(id), hoursAgo(), hoursAgo())
  expect((await files.run('listTrash', {})).records).toEqual([])
  // Another worker may just be throwing something away.
  expect(fs.readdirSync(bin('')).toSorted()).toEqual(['new', 'odd'])
  expect(fs.readFileSync(bin('odd/content'), 'utf8')).toBe('precious')
})
