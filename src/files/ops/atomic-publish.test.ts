import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { getErrno } from '../confine/file-error.ts'
import { placeholderMode } from '../confine/crash-cleanup.ts'

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await files.close()
})

const inside = (path: string) => join(files.workspace, path)
const move = { from: inWorkspace('a'), to: inWorkspace('b') }

test('FT5 does not replace a folder created right before the move', async () => {
  files.put({ 'a/x.md': 'x' })
  const rename = fs.renameSync
  let other: string | undefined = 'made'
  vi.spyOn(fs, 'renameSync').mockImplementationOnce((from, to) => {
    try {
      fs.mkdirSync(inside('b'))
    } catch (error) {
      other = getErrno(error)
    }
    rename(from, to)
  })
  await files.run('move', move)
  // The other program gets EEXIST, and its folder is not replaced.
  expect(other).toBe('EEXIST')
  expect(fs.readdirSync(files.workspace)).toEqual(['b'])
  expect(fs.statSync(inside('b')).mode & 0o777).toBe(0o755)
})

test('FT5 a folder that cannot be moved leaves its new name free', async () => {
  files.put({ 'a/x.md': 'x' })
  vi.spyOn(fs, 'renameSync').mockImplementationOnce(() => {
    throw Object.assign(new Error('busy'), { code: 'EBUSY' })
  })
  expect(await files.refusal('move', move)).toBe('no_permission')
  expect(fs.readdirSync(files.workspace)).toEqual(['a'])
})

test('FT5 replaces a stale placeholder folder and nothing else', async () => {
  files.put({ 'a/x.md': 'x' })
  fs.mkdirSync(inside('b'), { mode: placeholderMode })
  expect(await files.refusal('move', move)).toBe('exists')
  const before = new Date(Date.now() - 5000)
  fs.utimesSync(inside('b'), before, before)
  fs.chmodSync(inside('b'), 0o700)
  expect(await files.refusal('move', move)).toBe('exists')
  fs.chmodSync(inside('b'), placeholderMode)
  await files.run('move', move)
  expect(fs.readdirSync(inside('b'))).toEqual(['x.md'])
})
