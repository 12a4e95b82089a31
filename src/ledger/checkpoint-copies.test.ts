import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refuseCut } from './checkpoint-copies.ts'

function copies(text: string) {
  const path = join(mkdtempSync(join(tmpdir(), 'cowork-copies-')), 'checkpoints.jsonl')
  writeFileSync(path, text)
  return path
}
const line = (size: number) => `${JSON.stringify({ at: 1, size, note: 'n'.repeat(200) })}\n`

test('L7 a store shorter than its newest signed checkpoint is refused', () => {
  const path = copies(Array.from({ length: 200 }, (_, i) => line(i + 1)).join(''))
  expect(() => refuseCut(path, 200)).not.toThrow(/missing/)
  expect(() => refuseCut(path, 500)).not.toThrow(/missing/)
  expect(() => refuseCut(path, 199)).toThrow(/199 entries.*signed over 200/)
})

test('L7 a torn last line hides no checkpoint before it, and no file means none', () => {
  expect(() => refuseCut(copies(`${line(7)}{"at":1,"si`), 6)).toThrow(/signed over 7/)
  expect(() => refuseCut('/nonexistent/checkpoints.jsonl', 0)).not.toThrow(/missing/)
  expect(() => refuseCut(copies(''), 0)).not.toThrow(/missing/)
})
