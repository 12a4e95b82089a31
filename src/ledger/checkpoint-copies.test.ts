import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLog, silentLog } from '#base/log.ts'
import {
  createCheckpointCopies,
  readCheckpointCopies,
  assertNotTruncated,
} from './checkpoint-copies.ts'

function copies(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-copies-'))
  writeFileSync(join(folder, 'checkpoints.jsonl'), text)
  return folder
}
const line = (size: number) => `${JSON.stringify({ at: 1, size, note: 'n'.repeat(200) })}\n`

test('L7 a store shorter than its newest signed checkpoint is refused', () => {
  const folder = copies(Array.from({ length: 200 }, (_, i) => line(i + 1)).join(''))
  expect(() => assertNotTruncated([folder], 200)).not.toThrow(/missing/)
  expect(() => assertNotTruncated([folder], 500)).not.toThrow(/missing/)
  expect(() => assertNotTruncated([folder], 199)).toThrow(/199 entries.*signed over 200/)
})

test('L7 a partial last line does not hide the previous checkpoint', () => {
  expect(() => assertNotTruncated([copies(`${line(7)}{"at":1,"si`)], 6)).toThrow(/signed over 7/)
  expect(() => assertNotTruncated(['/nonexistent'], 0)).not.toThrow(/missing/)
  expect(() => assertNotTruncated([copies('')], 0)).not.toThrow(/missing/)
})

test('L15 a partial line is not a checkpoint, also after another line follows', async () => {
  const folder = copies(`${line(7)}{"at":1,"si`)
  const sizes = () => readCheckpointCopies([folder]).map(({ size }) => size)
  expect(sizes()).toEqual([7])
  const copy = createCheckpointCopies([folder], silentLog)
  await copy(line(8).trim())
  expect(sizes()).toEqual([7, 8])
  expect(() => assertNotTruncated([folder], 7)).toThrow(/signed over 8/)
})

test('L7 RS1 an older checkpoint appended again does not hide a newer one', () => {
  expect(() => assertNotTruncated([copies(line(9) + line(5))], 5)).toThrow(/signed over 9/)
})

test('L15 RS1 the newest checkpoint of one folder is enough to refuse a truncated store', () => {
  const folders = ['/nonexistent', copies(line(5)), copies(line(9))]
  expect(() => assertNotTruncated(folders, 8)).toThrow(/8 entries.*signed over 9/)
  expect(() => assertNotTruncated(folders, 9)).not.toThrow(/missing/)
})

test('L15 every folder gets every checkpoint, and a failing folder is logged once and retried', async () => {
  const good = join(mkdtempSync(join(tmpdir(), 'cowork-copies-')), 'made', 'on demand')
  const parent = mkdtempSync(join(tmpdir(), 'cowork-copies-'))
  const bad = join(parent, 'later')
  writeFileSync(bad, 'a file, so no folder can be made here')
  const logged: string[] = []
  const write = (text: string) =>
    void logged.push((JSON.parse(text) as { message: string }).message)
  const log = createLog({ level: 'info', json: true, write })
  const copy = createCheckpointCopies([bad, good], log)
  await copy(line(1).trim())
  await copy(line(2).trim())
  const sizes = (folder: string) => readCheckpointCopies([folder]).map(({ size }) => size)
  expect(sizes(good)).toEqual([1, 2])
  expect(logged).toEqual(['checkpoint copy failed'])
  rmSync(bad)
  await copy(line(3).trim())
  expect(sizes(bad)).toEqual([1, 2, 3])
  expect(sizes(good)).toEqual([1, 2, 3])
  expect(logged).toEqual(['checkpoint copy failed', 'checkpoint copies resumed'])
})
