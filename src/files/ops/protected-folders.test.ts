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

const close = (folder: string, mode = 0o000) => fs.chmodSync(join(files.workspace, folder), mode)
const search = { in: [inWorkspace('')], types: [], limit: 10 }

// Modes keep nobody out on Windows.
test.runIf(process.platform !== 'win32')(
  'FT3 FT6 FT7 a folder that may not be read keeps nothing else from being found',
  async () => {
    files.put({
      'a/x.md': 'needle',
      'shut/y.md': 'needle',
      'names/q.md': 'needle',
      'z.md': 'needle',
    })
    close('shut')
    close('names', 0o400)
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
  'FT3 FT6 a folder that was asked for and may not be read is refused',
  async () => {
    files.put({ 'shut/y.md': 'needle' })
    fill(files.granted, { 'g.md': 'needle' })
    close('shut')
    await unprivileged(async () => {
      const at = inWorkspace('shut')
      const list = { at, recursive: false, limit: 100, ignore: false }
      expect(await files.refusal('list', list)).toBe('no_permission')
      const query = { ...search, in: [at], query: 'needle' }
      expect(await files.refusal('searchContent', query)).toBe('no_permission')
      // Of several places the others are searched.
      const both = { ...query, in: [at, granted('')] }
      expect((await files.run('searchContent', both)).total).toBe(1)
    })
  },
)

test.runIf(process.platform !== 'win32')(
  'TR1 a folder that is not to be written to can be thrown away, and goes for good',
  async () => {
    files.put({ 'f/module/go.mod': 'x', 'f/shut/y.md': 'y', 'f/plain/z.md': 'z' })
    close('f/module', 0o500)
    const trashed = { at: inWorkspace('f'), id: 'id-1', record: {} }
    await unprivileged(async () => {
      await files.run('trash', trashed)
      expect((await files.run('purge', { ids: ['id-1'] })).purged).toEqual(['id-1'])
    })
    expect(fs.readdirSync(join(files.top, 'trash'))).toEqual([])
  },
)

test.runIf(process.platform !== 'win32')(
  'TR1 a file that cannot be read can be thrown away and comes back, without a hash',
  async () => {
    files.put({ 'a.md': 'text' })
    close('a.md')
    await unprivileged(async () => {
      const answer = await files.run('trash', { at: inWorkspace('a.md'), id: 'id-1', record: {} })
      expect(answer.sha256).toBeUndefined()
      await files.run('restore', { id: 'id-1', to: inWorkspace('b.md') })
    })
    expect(fs.readFileSync(join(files.workspace, 'b.md'), 'utf8')).toBe('text')
  },
)

test.runIf(process.platform !== 'win32')(
  'F5 a program that can be run and not read stays where it may be run',
  async () => {
    files.put({ 'Code/bash/run': 'text' })
    close('Code/bash/run', 0o311)
    const move = { from: inWorkspace('Code/bash/run'), to: inWorkspace('Documents/run') }
    await unprivileged(async () => {
      expect(await files.refusal('move', move)).toBe('no_permission')
    })
  },
)

// Only an administrator can give a file to somebody else.
test.runIf(process.getuid?.() === 0)(
  'TR3 a kept content that belongs to somebody else is said to be, and nothing stays open',
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
