import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'

let files: TestOps
beforeEach(() => {
  files = openTestOps({ containment: 'checked' })
})
afterEach(() => files.close())

const inside = (path: string) => join(files.workspace, path)

test('PV6 every operation works with the portable containment', async () => {
  const at = inWorkspace('a/b.md')
  await files.run('write', { at, writeMode: 'create', encoding: 'utf-8' }, 'one needle\n')
  const replaced = await files.run(
    'write',
    { at, writeMode: 'replace', encoding: 'keep', backup: true },
    'two needle\n',
  )
  expect(replaced.backup).toBe('a/b.md.bak')
  await files.run('edit', { at, edits: [{ old: 'two', new: 'three' }] })
  const read = await files.run('read', { at, maxBytes: 100 })
  expect(read.body?.toString()).toBe('three needle\n')
  expect((await files.run('stat', { at })).stat.size).toBe(13)

  await files.run('copy', { from: at, to: inWorkspace('c/copy.md') })
  await files.run('move', { from: inWorkspace('c'), to: inWorkspace('d') })
  await files.run('move', { from: inWorkspace('d/copy.md'), to: inWorkspace('d/moved.md') })
  const list = await files.run('list', {
    at: inWorkspace(''),
    recursive: true,
    limit: 10,
    ignore: true,
  })
  expect(list.entries.paths).toEqual(['a', 'a/b.md', 'a/b.md.bak', 'd', 'd/moved.md'])
  const search = { in: [inWorkspace('')], types: [], limit: 10 }
  expect((await files.run('searchNames', { ...search, query: 'moved' })).total).toBe(1)
  expect((await files.run('searchContent', { ...search, query: 'needle' })).total).toBe(3)
  expect(await files.run('usage', { at: inWorkspace(''), depth: 1 })).toMatchObject({ files: 3 })

  await files.run('trash', { at: inWorkspace('d'), id: 'id-1', record: { path: 'd' } })
  expect((await files.run('listTrash', {})).records).toHaveLength(1)
  await files.run('restore', { id: 'id-1', to: inWorkspace('e') })
  expect(fs.readFileSync(inside('e/moved.md'), 'utf8')).toBe('three needle\n')
  const sha256 = replaced.before?.sha256 ?? ''
  await files.run('restoreVersion', { at, sha256, mode: 0o644 })
  expect(fs.readFileSync(inside('a/b.md'), 'utf8')).toBe('one needle\n')
  await files.run('writeInternalFile', { name: 'index.json' }, '{}')
})

test('PV6 the portable containment refuses links that lead out', async () => {
  fs.symlinkSync(files.outside, inside('out'))
  const read = { at: inWorkspace('out/secret.txt'), maxBytes: 10 }
  expect(await files.refusal('read', read)).toBe('path_escape')
  const write = { at: inWorkspace('out/new.txt'), writeMode: 'create', encoding: 'utf-8' } as const
  expect(await files.refusal('write', write, 'x')).toBe('path_escape')
  expect(fs.readdirSync(files.outside)).toEqual(['secret.txt'])
})
