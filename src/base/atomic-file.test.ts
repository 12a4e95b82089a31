import { mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { appendLine, writeFileAtomic } from './atomic-file.ts'

const folder = () => mkdtempSync(join(tmpdir(), 'cowork-atomic-'))

test('I4 an atomic write replaces the file, sets mode 0600 and leaves no temporary file', () => {
  const path = join(folder(), 'secret')
  writeFileSync(path, 'old', { mode: 0o644 })
  writeFileAtomic(path, 'new')
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(path, '..'))).toEqual(['secret'])
})

test('L5 a failed write keeps the old content', () => {
  const dir = folder()
  expect(() => writeFileAtomic(join(dir, 'missing', 'file'), 'x')).toThrow(/ENOENT/)
  expect(readdirSync(dir)).toEqual([])
})

test('L5 appendLine adds lines in order', async () => {
  const path = join(folder(), 'log')
  await appendLine(path, 'one')
  await appendLine(path, 'two')
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n')
})

test('L15 a new line does not join a partial line', async () => {
  const path = join(folder(), 'log')
  writeFileSync(path, 'one\ntw')
  await appendLine(path, 'three')
  await appendLine(path, 'four')
  expect(readFileSync(path, 'utf8')).toBe('one\ntw\nthree\nfour\n')
})
