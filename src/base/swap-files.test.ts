import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { swapFiles } from './swap-files.ts'

test('W5 swapFiles swaps two files atomically and creates none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-exchange-'))
  const [a, b] = [join(folder, 'a'), join(folder, 'b')]
  writeFileSync(a, 'one')
  expect(swapFiles(a, b)).toBe(false)
  writeFileSync(b, 'two')
  expect(swapFiles(a, b)).toBe(process.platform === 'linux')
  if (process.platform === 'linux')
    expect([readFileSync(a, 'utf8'), readFileSync(b, 'utf8')]).toEqual(['two', 'one'])
})
