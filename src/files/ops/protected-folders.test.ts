import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { granted, inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { fill } from '../../../test/roots.ts'
import { unprivileged } from '../../../test/unprivileged.ts'

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(() => files.close())

const restrict = (folder: string, mode = 0o000) => fs.chmodSync(join(files.workspace, folder), mode)
const search = { in: [inWorkspace('')], types: [], limit: 10 }

// Windows ignores file modes.
test.runIf(process.platform !== 'win32')(
  'FT3 FT6 FT7 skips an unreadable folder and finds everything else',
  async () => {
    files.put({
      'a/x.md': 'needle',
      'shut/y.md': 'needle',
      'names/q.md': 'needle',
      'z.md': 'needle',
    })
    restrict('shut')
    restrict('names', 0o400)
    await unprivileged(async () => {
      const tree = { at: inWorkspace(''), recursive: true, limit: 100, ignore: true }
      const { entries } = await files.run('list', tree)
      expect(entries.paths).toEqual(['a', 'a/x.md', 'names', 'shut', 'z.md'])
      const goingOn = await files.run('list', { ...tree, after: 'shut/y.md' })
      expect(goingOn.entries.paths).toEqual(['z.md'])
      expect((await files.run('searchNames', { ...search, query: '.md' })).total).toBe(2)
      expect((await files.run('searchContent', { ...search, query: 'needle' })).total).toBe(2)
      expect((await files.run('usage', { at: inWorkspace(''), depth: 1 })).files).toBe(2)
    })
  },
)

test.runIf(process.platform !== 'win32')(
  'FT3 FT6 refuses a requested folder that is unreadable',
  async () => {
    files.put({ 'shut/y.md': 'needle' })
    fill(files.granted, { 'g.md': 'needle' })
    restrict('shut')
    await unprivileged(async () => {
      const at = inWorkspace('shut')
      const list = { at, recursive: false, limit: 100, ignore: false }
      expect(await files.refusal('list', list)).toBe('no_permission')
      const query = { ...search, in: [at], query: 'needle' }
      expect(await files.refusal('searchContent', query)).toBe('no_permission')
      // With several scopes, the others are searched.
      const both = { ...query, in: [at, granted('')] }
      expect((await files.run('searchContent', both)).total).toBe(1)
    })
  },
)

test.runIf(process.platform !== 'win32')('TR1 deletes and purges a read-only folder', async () => {
  files.put({ 'f/module/go.mod': 'x', 'f/shut/y.md': 'y', 'f/plain/z.md': 'z' })
  restrict('f/module', 0o500)
  const trashed = { at: inWorkspace('f'), id: 'id-1', record: {} }
  await unprivileged(async () => {
    await files.run('trash', trashed)
    expect((await files.run('purge', { ids: ['id-1'] })).purged).toEqual(['id-1'])
  })
  expect(fs.readdirSync(join(files.top, 'trash'))).toEqual([])
})

test.runIf(process.platform !== 'win32')(
  'TR1 deletes and restores an unreadable file without a hash',
  async () => {
    files.put({ 'a.md': 'text' })
    restrict('a.md')
    await unprivileged(async () => {
      const answer = await files.run('trash', { at: inWorkspace('a.md'), id: 'id-1', record: {} })
      expect(answer.sha256).toBeUndefined()
      await files.run('restore', { id: 'id-1', to: inWorkspace('b.md') })
    })
    expect(fs.readFileSync(join(files.workspace, 'b.md'), 'utf8')).toBe('text')
  },
)

test.runIf(process.platform !== 'win32')(
  'F5 does not move an executable that is not readable out of Code/',
  async () => {
    files.put({ 'Code/bash/run': 'text' })
    restrict('Code/bash/run', 0o311)
    const move = { from: inWorkspace('Code/bash/run'), to: inWorkspace('Documents/run') }
    await unprivileged(async () => {
      expect(await files.refusal('move', move)).toBe('no_permission')
    })
  },
)

// Only root can change the owner of a file.
test.runIf(process.getuid?.() === 0)(
  'TR3 reports a stored version with another owner and leaves no descriptor open',
  async () => {
    const at = inWorkspace('a.md')
    const put = (text: string) =>
      files.run('write', { at, writeMode: 'put', encoding: 'binary' }, text)
    await put('one')
    const { before } = await put('two')
    await put('one')
    const { sha256 = '' } = before ?? {}
    fs.chownSync(join(files.top, 'versions', sha256.slice(0, 2), sha256.slice(2)), 1, 1)
    fs.chmodSync(join(files.top, 'versions', sha256.slice(0, 2), sha256.slice(2)), 0o644)
    await unprivileged(async () => {
      await expect(put('three')).rejects.toMatchObject({ code: 'no_permission' })
    })
    expect(fs.readFileSync(join(files.workspace, 'a.md'), 'utf8')).toBe('one')
  },
)
