import fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLog } from '#base/log.ts'
import { fill, testFolders } from '../../../test/roots.ts'
import { createFileWorker } from '../worker-client.ts'
import type { FileWorker } from '../worker-client.ts'

// The real operations under Landlock: it must leave them the rights and libraries they need.
const folders = testFolders()
let worker: FileWorker
beforeAll(() => {
  worker = createFileWorker({ setup: folders.setup, log: silentLog })
})
afterAll(() => worker.close())

const granted = (path: string) => ({ root: 'grant_1', path })
const workspace = (path: string) => ({ root: 'workspace', path })
const content = (path: string) => fs.readFileSync(join(folders.top, path), 'utf8')

test('PV6 writes, changes, versions and backs up files under Landlock', async () => {
  const at = workspace('Documents/x.txt')
  const body = (text: string) => ({ body: Buffer.from(text) })
  await worker.ask('write', { at, writeMode: 'create', encoding: 'keep' }, body('one'))
  const put = { at, writeMode: 'put', encoding: 'keep', backup: true } as const
  const { before, backup } = await worker.ask('write', put, body('two'))
  await worker.ask('edit', { at, edits: [{ old: 'two', new: 'three' }] })
  expect(content('workspace/Documents/x.txt')).toBe('three')
  expect(content(`workspace/${backup}`)).toBe('one')
  const storedVersion = { at, sha256: before?.sha256 ?? '', mode: 0o644 }
  await worker.ask('restoreVersion', storedVersion)
  expect(content('workspace/Documents/x.txt')).toBe('one')
  await worker.ask('writeInternalFile', { name: 'index.json' }, body('{}'))
  expect(worker.containment()).toBe('landlock')
})

test('PV6 moves, copies, deletes and restores files, links and folders under Landlock', async () => {
  fill(folders.granted, { 'a.txt': 'a', 'sub/b.txt': 'b' })
  fs.symlinkSync('a.txt', join(folders.granted, 'link'))
  await worker.ask('move', { from: granted('a.txt'), to: granted('sub/moved.txt') })
  await worker.ask('move', { from: granted('link'), to: granted('sub/link') })
  await worker.ask('move', { from: granted('sub'), to: granted('folder') })
  expect(fs.readdirSync(join(folders.granted, 'folder')).toSorted()).toEqual([
    'b.txt',
    'link',
    'moved.txt',
  ])
  await worker.ask('copy', { from: granted('folder/b.txt'), to: workspace('copy.txt') })
  await worker.ask('trash', { at: workspace('copy.txt'), id: 'trash_1', record: {} })
  await worker.ask('restore', { id: 'trash_1', to: workspace('back.txt') })
  expect(content('workspace/back.txt')).toBe('b')
  fill(folders.workspace, { 'folder/in/x.txt': 'x' })
  await worker.ask('trash', { at: workspace('folder'), id: 'trash_2', record: {} })
  expect((await worker.ask('purge', { ids: ['trash_2'] })).purged).toEqual(['trash_2'])
})

test('PV6 libraries and threads work under Landlock', async () => {
  const page = '<</Type/Page/MediaBox[0 0 3 3]/Parent 2 0 R>>'
  fill(folders.granted, {
    'y.pdf': `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj${page}endobj\ntrailer<</Root 1 0 R>>`,
    'latin.txt': Buffer.from('caf\xe9 au lait, d\xe9j\xe0 vu', 'latin1'),
    'words.txt': 'needle in hay',
  })
  const pdf = await worker.ask('read', { at: granted('y.pdf'), maxBytes: 1e6 })
  expect(pdf).toMatchObject({ kind: 'document', mime: 'application/pdf', extracted: true })
  const latin = await worker.ask('read', { at: granted('latin.txt'), maxBytes: 1e6 })
  expect(latin.body?.toString()).toBe('café au lait, déjà vu')
  const ask = { in: [granted('')], query: 'ne+dle', types: [], limit: 10, regex: true }
  expect((await worker.ask('searchContent', ask)).hits).toMatchObject([{ path: 'words.txt' }])
})
