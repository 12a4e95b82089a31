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

const trashPath = (path: string) => join(files.top, 'trash', path)
const trash = (path: string, id: string) =>
  files.run('trash', { at: inWorkspace(path), id, record: { path } })
const listIds = async () => (await files.run('listTrash', {})).records.map(({ id }) => id)
const hoursAgo = () => new Date(Date.now() - 2 * 60 * 60 * 1000)

test('TR1 an item that cannot be removed completely leaves the trash, and the others are purged', async () => {
  files.put({ 'a.md': '', 'b.md': '' })
  await trash('a.md', 'id-1')
  await trash('b.md', 'id-2')
  // A mount inside the item must not be emptied.
  fs.mkdirSync(trashPath('id-1/disk'))
  const disk = mountSmallDisk(trashPath('id-1/disk'), 64)
  fs.writeFileSync(trashPath('id-1/disk/kept'), '')
  try {
    expect(await files.run('purge', { ids: ['id-1', 'id-2'] })).toEqual({
      purged: ['id-1', 'id-2'],
      left: [trashPath('id-1')],
    })
    expect(await listIds()).toEqual([])
    expect(fs.readdirSync(trashPath('id-1/disk'))).toEqual(['kept'])
  } finally {
    disk.remove()
  }
})

test('TR1 an entry that cannot be removed does not stop the removal of others', async () => {
  files.put({ 'a.md': '' })
  await trash('a.md', 'id-1')
  const others = ['f/a/one.md', 'f/b/c/one.md', 'f/b/e/one.md', 'f/z.md']
  fill(trashPath('id-1'), Object.fromEntries(others.map((path) => [path, ''])))
  const disk = mountSmallDisk(trashPath('id-1/f/b/d'), 64)
  fs.writeFileSync(trashPath('id-1/f/b/d/kept'), '')
  const purge = () => files.run('purge', { ids: ['id-1'] })
  try {
    expect(await purge()).toEqual({ purged: ['id-1'], left: [trashPath('id-1')] })
    const left = fs.readdirSync(trashPath('id-1'), { recursive: true })
    expect(left).toEqual(['f', 'f/b', 'f/b/d', 'f/b/d/kept'])
  } finally {
    disk.remove()
  }
  await purge()
  expect(fs.readdirSync(trashPath(''))).toEqual([])
})

/** Runs a purge that fails after the first removal. */
async function runFailingPurge(ids: readonly string[]) {
  const turn = () => Promise.reject(new Error('the disk is gone'))
  const context = { ...files.context, yieldIfDue: turn }
  return ops.purge(context, { ids }, Buffer.alloc(0), () => false)
}

test('TR1 a partly purged item is not listed or restored, and is cleaned up later', async () => {
  files.put({ 'f/a.md': 'a', 'f/b.md': 'b' })
  await trash('f', 'id-1')
  expect(await runFailingPurge(['id-1'])).toEqual({ purged: ['id-1'], left: [trashPath('id-1')] })
  expect(fs.readdirSync(trashPath(''))).toEqual(['id-1'])
  expect(await listIds()).toEqual([])
  expect(await files.refusal('restore', { id: 'id-1', to: inWorkspace('f') })).toBe('not_found')
  expect(fs.readdirSync(files.workspace)).toEqual([])
  fs.utimesSync(trashPath('id-1'), hoursAgo(), hoursAgo())
  expect(await listIds()).toEqual([])
  expect(fs.readdirSync(trashPath(''))).toEqual([])
})

test('TR1 the next purge removes a partly purged item', async () => {
  files.put({ 'f/a.md': 'a', 'f/b.md': 'b' })
  await trash('f', 'id-1')
  await runFailingPurge(['id-1'])
  await files.run('purge', { ids: ['id-1'] })
  expect(fs.readdirSync(trashPath(''))).toEqual([])
})

test('TR1 a cancelled purge stops and returns what it purged', async () => {
  files.put({ 'a.md': '', 'f/a.md': 'a', 'f/b.md': 'b', 'c.md': '' })
  const ids = ['id-1', 'id-2', 'id-3']
  for (const [at, path] of ['a.md', 'f', 'c.md'].entries()) await trash(path, `id-${at + 1}`)
  let isLate = false
  const turn = async () => {
    isLate = !fs.existsSync(trashPath('id-1'))
  }
  const context = { ...files.context, yieldIfDue: turn }
  const answer = await ops.purge(context, { ids }, Buffer.alloc(0), () => isLate)
  expect(answer).toEqual({ purged: ['id-1', 'id-2'], left: [trashPath('id-2')] })
  expect(await listIds()).toEqual(['id-3'])
})

test('TR1 fails for a missing or replaced trash folder', async () => {
  const moved = join(files.top, 'moved')
  fs.renameSync(trashPath(''), moved)
  const refused = { code: 'unreadable', message: expect.stringContaining('The trash is no longer') }
  const purge = () => files.run('purge', { ids: ['id-1'] })
  await expect(purge()).rejects.toMatchObject(refused)
  fs.mkdirSync(trashPath(''))
  await expect(purge()).rejects.toMatchObject(refused)
})

test('TR1 purges a file that another program put into the trash', async () => {
  fill(trashPath(''), { 'id-1': 'theirs' })
  fs.symlinkSync(files.outside, trashPath('id-2'))
  await files.run('purge', { ids: ['id-1', 'id-2'] })
  expect(fs.readdirSync(trashPath(''))).toEqual([])
  expect(fs.readdirSync(files.outside)).toEqual(['secret.txt'])
})

test('TR1 does not report a missing item as purged', async () => {
  files.put({ 'a.md': 'a', 'b.md': 'b' })
  await trash('a.md', 'id-1')
  await trash('b.md', 'id-2')
  await files.run('restore', { id: 'id-1', to: inWorkspace('a.md') })
  expect((await files.run('purge', { ids: ['id-1', 'id-2'] })).purged).toEqual(['id-2'])
})

test('TR1 removes the record of an interrupted operation', async () => {
  fill(trashPath(''), { 'old/record.json': '{"path":"a"}', 'new/record.json': '{"path":"b"}' })
  fill(trashPath(''), { 'odd/record.json': 'not json', 'odd/content': 'precious' })
  for (const id of ['old', 'odd']) fs.utimesSync(trashPath(id), hoursAgo(), hoursAgo())
  expect((await files.run('listTrash', {})).records).toEqual([])
  // Another worker may be deleting a file at this moment.
  expect(fs.readdirSync(trashPath('')).toSorted()).toEqual(['new', 'odd'])
  expect(fs.readFileSync(trashPath('odd/content'), 'utf8')).toBe('precious')
})
