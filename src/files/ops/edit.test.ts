import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { ops } from './index.ts'

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(() => files.close())

const content = (path: string) => fs.readFileSync(join(files.workspace, path), 'utf8')
const versionPath = (hash: string) => join(files.top, 'versions', hash.slice(0, 2), hash.slice(2))

test('FT4 an edit answers with its diff; a dry run changes nothing', async () => {
  files.put({ 'a.md': 'one\ntwo\nthree\n' })
  const ask = { at: inWorkspace('a.md'), edits: [{ old: 'two', new: 'zwei' }] }
  const dry = await files.run('edit', { ...ask, dryRun: true })
  expect(dry).toMatchObject({ sha256: sha256('one\nzwei\nthree\n') })
  expect(dry.before).toBeUndefined()
  expect(content('a.md')).toBe('one\ntwo\nthree\n')
  const real = await files.run('edit', { ...ask, backup: true })
  expect(real).toMatchObject({ diff: dry.diff, sha256: dry.sha256, backup: 'a.md.bak' })
  expect(dry.diff).toBe('--- a.md\n+++ a.md\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three')
  expect(content('a.md')).toBe('one\nzwei\nthree\n')
  expect(fs.readFileSync(versionPath(real.before?.sha256 ?? ''), 'utf8')).toBe('one\ntwo\nthree\n')
})

test('FT4 edits a text in its own encoding', async () => {
  const bytes = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('größe: 1\r\n', 'utf16le')])
  files.put({ 'wide.txt': bytes })
  await files.run('edit', { at: inWorkspace('wide.txt'), edits: [{ old: '1', new: '漢' }] })
  expect(fs.readFileSync(join(files.workspace, 'wide.txt')).toString('utf16le')).toBe(
    '\uFEFFgröße: 漢\r\n',
  )
})

test('FT4 refuses binary files and texts without exactly one match, and changes nothing', async () => {
  const bytes = Buffer.from([0, 1, 2, 3, 4, 0x61, 255])
  files.put({ 'b.bin': bytes, 'a.md': 'a a' })
  const edits = [{ old: 'a', new: 'b' }]
  const refusal = (path: string, more = {}) =>
    files.refusal('edit', { at: inWorkspace(path), edits, ...more })
  expect(await refusal('b.bin')).toBe('not_text')
  expect(await refusal('a.md')).toBe('ambiguous_edit')
  expect(await refusal('none.md')).toBe('not_found')
  expect(await refusal('a.md', { edits: [{ old: 'x', new: '' }] })).toBe('no_match')
  expect(await refusal('a.md', { expected: sha256('other') })).toBe('stale')
  expect(fs.readFileSync(join(files.workspace, 'b.bin')).equals(bytes)).toBe(true)
  expect(content('a.md')).toBe('a a')
})

test('PV8 a name with a line break adds no line to the diff', async () => {
  files.put({ 'a\n+++ evil': 'one\n' })
  const at = inWorkspace('a\n+++ evil')
  const { diff } = await files.run('edit', { at, edits: [{ old: 'one', new: 'two' }] })
  expect(diff?.split('\n').filter((line) => line.startsWith('+++'))).toHaveLength(1)
})

test('FT4 for any bytes, an edit changes nothing else or is refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (noise) => {
      const bytes = Buffer.concat([Buffer.from(noise), Buffer.from('«here»'), Buffer.from(noise)])
      files.put({ 'a.bin': bytes })
      const at = inWorkspace('a.bin')
      const edits = [{ old: '«here»', new: '«there»' }]
      const answer = await files.run('edit', { at, edits }).catch(() => undefined)
      const now = fs.readFileSync(join(files.workspace, 'a.bin'))
      const expected = Buffer.from(noise)
      if (!answer) expect(now.equals(bytes)).toBe(true)
      else
        expect(now.equals(Buffer.concat([expected, Buffer.from('«there»'), expected]))).toBe(true)
    }),
    { numRuns: 100 },
  )
})

test('FT4 cancelled edits change nothing', async () => {
  files.put({ 'a.md': 'one' })
  const edits = [
    { old: 'one', new: 'two' },
    { old: 'two', new: 'three' },
  ]
  const ask = { at: inWorkspace('a.md'), edits }
  const editing = Promise.resolve(ops.edit(files.context, ask, Buffer.alloc(0), () => true))
  await expect(editing).rejects.toMatchObject({ code: 'cancelled' })
  expect(fs.readdirSync(files.workspace)).toEqual(['a.md'])
  expect(fs.readFileSync(join(files.workspace, 'a.md'), 'utf8')).toBe('one')
})
