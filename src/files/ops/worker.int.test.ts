import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sha256Hex } from '#base/hash.ts'
import { silentLog } from '#base/log.ts'
import { buildDocx, paragraph, buildPdf } from '../../../test/documents.ts'
import { granted, inWorkspace } from '../../../test/ops.ts'
import { fill, pinnedRoot, testFolders } from '../../../test/roots.ts'
import type { TestFolders } from '../../../test/roots.ts'
import { createFileWorker } from '../worker-client.ts'
import type { FileWorker } from '../worker-client.ts'

let folders: TestFolders
let worker: FileWorker
beforeEach(() => {
  folders = testFolders()
  worker = createFileWorker({ setup: folders.setup, log: silentLog })
})
afterEach(() => worker.close())

const inside = (path: string) => join(folders.workspace, path)

test('PV6 every operation works under Landlock in the real worker', async () => {
  const at = inWorkspace('a/b.md')
  const { sha256 } = await worker.ask(
    'write',
    { at, writeMode: 'create', encoding: 'utf-8' },
    { body: Buffer.from('one needle\n') },
  )
  expect(worker.containment()).toBe('landlock')
  const edit = { at, edits: [{ old: 'one', new: 'two' }], backup: true }
  expect((await worker.ask('edit', edit)).before?.sha256).toBe(sha256)
  expect((await worker.ask('read', { at, maxBytes: 100 })).body?.toString()).toBe('two needle\n')
  await worker.ask('restoreVersion', { at, sha256, mode: 0o644 })
  expect(fs.readFileSync(inside('a/b.md'), 'utf8')).toBe('one needle\n')
  expect((await worker.ask('diff', { from: { sha256, name: '1' }, to: at })).diff).toBe('')

  await worker.ask('copy', { from: at, to: inWorkspace('c/copy.md') })
  await worker.ask('move', { from: inWorkspace('c/copy.md'), to: inWorkspace('d/moved.md') })
  await worker.ask('move', { from: inWorkspace('d'), to: inWorkspace('e') })
  const list = await worker.ask('list', {
    at: inWorkspace(''),
    recursive: true,
    limit: 20,
    ignore: true,
  })
  expect(list.entries.paths).toEqual(['a', 'a/b.md', 'a/b.md.bak', 'c', 'e', 'e/moved.md'])
  const search = { in: [inWorkspace('')], types: [], limit: 10 }
  expect((await worker.ask('searchNames', { ...search, query: '*.md' })).total).toBe(2)
  expect(
    (await worker.ask('searchContent', { ...search, query: 'n(e+)dle', regex: true })).total,
  ).toBe(3)
  expect((await worker.ask('usage', { at: inWorkspace(''), depth: 1 })).files).toBe(3)

  await worker.ask('trash', { at: inWorkspace('e'), id: 'id-1', record: { path: 'e' } })
  await worker.ask('trash', { at: inWorkspace('a/b.md.bak'), id: 'id-2', record: {} })
  expect((await worker.ask('listTrash', {})).records).toHaveLength(2)
  await worker.ask('restore', { id: 'id-1', to: inWorkspace('f') })
  await worker.ask('purge', { ids: ['id-2'] })
  expect(fs.readdirSync(join(folders.top, 'trash'))).toEqual([])
  await worker.ask('writeInternalFile', { name: 'index.json' }, { body: Buffer.from('{}') })
  expect((await worker.ask('deleteVersions', { sha256: [sha256] })).bytes).toBe(11)
  expect((await worker.ask('stat', { at: inWorkspace('f/moved.md') })).stat.size).toBe(11)
})

test('FT2 reads documents, pictures and legacy encodings under Landlock', async () => {
  fill(folders.granted, {
    'a.pdf': buildPdf('Quarterly report'),
    'b.docx': buildDocx(paragraph('Minutes')),
    'c.txt': Buffer.from('Les \xe9l\xe8ves fran\xe7ais \xe9taient tr\xe8s fatigu\xe9s.', 'latin1'),
    'd.gif': Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1'),
  })
  const read = (path: string) => worker.ask('read', { at: granted(path), maxBytes: 1000 })
  expect((await read('a.pdf')).body?.toString()).toContain('Quarterly report')
  expect((await read('b.docx')).body?.toString()).toContain('Minutes')
  expect((await read('c.txt')).body?.toString()).toContain('élèves')
  expect(await read('d.gif')).toMatchObject({ kind: 'image', mime: 'image/gif' })
})

test('F4 small reads pass a long search', async () => {
  for (let at = 0; at < 3000; at++)
    fill(folders.workspace, { [`${at % 50}/${at}.md`]: `number ${at}\n`.repeat(200) })
  const order: string[] = []
  const search = { in: [inWorkspace('')], types: [], limit: 10, query: '(a+)+ 1', regex: true }
  const long = worker.ask('searchContent', search).then(() => order.push('search'))
  const small = worker
    .ask('read', { at: inWorkspace('1/1.md'), maxBytes: 10 })
    .then(() => order.push('read'))
  await Promise.all([long, small])
  expect(order).toEqual(['read', 'search'])
})

test('GR6 a worker under Landlock rolls back an unfinished write of a granted file', async () => {
  // New roots replace the running worker.
  await worker.ask('listTrash', {})
  const path = join(folders.outside, 'one.txt')
  fs.writeFileSync(path, 'NEW content')
  const { dev, ino } = fs.statSync(path)
  const { pid } = spawnSync('/bin/true')
  const [old, fresh] = ['old content', 'NEW CONTENT']
  const head = { pid, old: sha256Hex(old), fresh: sha256Hex(fresh), length: old.length }
  const note = `${JSON.stringify(head)}\n${old}${fresh}`
  fill(join(folders.top, 'versions/in-place'), { [`${dev}-${ino}`]: note })
  const single = pinnedRoot('single', path, { kind: 'file' })
  await worker.setRoots([...folders.setup.roots, single])
  expect(fs.readFileSync(path, 'utf8')).toBe(old)
  expect(fs.readdirSync(join(folders.top, 'versions/in-place'))).toEqual([])
})
