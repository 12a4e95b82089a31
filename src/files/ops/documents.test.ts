import { afterEach, beforeEach, expect, test } from 'vitest'
import { docxOf, paragraph, pdfOf, word } from '../../../test/documents.ts'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { FileFault } from '../confine/fault.ts'
import { textOfDocument } from './documents.ts'

const waiting = () => Promise.resolve()

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(() => files.close())

test('FT2 the text of a PDF is read, and marked as taken out', async () => {
  files.put({ 'a.pdf': pdfOf('Quarterly report', 'Second line') })
  const answer = await files.run('read', { at: inWorkspace('a.pdf'), maxBytes: 1000 })
  expect(answer).toMatchObject({ kind: 'document', mime: 'application/pdf', extracted: true })
  expect(answer.body?.toString()).toContain('Quarterly report')
  expect(answer.body?.toString()).toContain('Second line')
})

test('FT2 the text of a Word file is read, by lines too, and its bytes where they are asked for', async () => {
  const docx = docxOf(['one', 'two', 'three'].map(paragraph).join(''))
  files.put({ 'a.docx': docx })
  const at = inWorkspace('a.docx')
  const answer = await files.run('read', { at, maxBytes: 1000 })
  expect(answer).toMatchObject({ kind: 'document', mime: word, extracted: true })
  expect(answer.body?.toString().split(/\n+/)).toEqual(['one', 'two', 'three', ''])
  const head = await files.run('read', { at, maxBytes: 1000, range: { by: 'head', lines: 1 } })
  expect(head.body?.toString()).toBe('one\n')
  const raw = await files.run('read', { at, maxBytes: 100_000, raw: true })
  expect(raw.body?.equals(docx)).toBe(true)
  expect(raw.extracted).toBeUndefined()
})

test('FT2 damaged documents are refused and hurt nothing', async () => {
  const whole = docxOf(paragraph('text'))
  files.put({
    'cut.docx': whole.subarray(0, whole.length / 2),
    'junk.pdf': `%PDF-1.7\n${'junk '.repeat(1000)}`,
    'empty.pdf': '%PDF-',
  })
  for (const path of ['cut.docx', 'junk.pdf', 'empty.pdf'])
    expect(await files.refusal('read', { at: inWorkspace(path), maxBytes: 1000 })).toBe(
      'unreadable',
    )
})

test('FT2 a document that unpacks to far more than it is gets no more memory than it may have', async () => {
  const bomb = docxOf(Buffer.alloc(64 * 1024 ** 2, paragraph('x')))
  expect(bomb.length).toBeLessThan(1024 ** 2)
  await expect(
    textOfDocument(bomb, word, waiting, { ms: 50_000, heapMb: 64, growthBytes: 128 * 1024 ** 2 }),
  ).rejects.toMatchObject({ code: 'unreadable' })
})

test('FT2 a document that takes too long is given up', async () => {
  const slow = pdfOf('text')
  await expect(
    textOfDocument(slow, 'application/pdf', waiting, { ms: 1, heapMb: 256, growthBytes: 2 ** 30 }),
  ).rejects.toMatchObject({ code: 'timeout' })
})

test('FT2 a document that nobody waits for any longer is given up, also before its turn', async () => {
  const bomb = docxOf(Buffer.alloc(64 * 1024 ** 2, paragraph('x')))
  let isOver = false
  const untilOver = async () => {
    if (isOver) throw new FileFault('cancelled', 'The call was cancelled.')
  }
  const limits = { ms: 50_000, heapMb: 1024, growthBytes: 2 ** 40 }
  const both = [1, 2].map(() => textOfDocument(bomb, word, untilOver, limits))
  isOver = true
  const cancelled = { status: 'rejected', reason: expect.objectContaining({ code: 'cancelled' }) }
  expect(await Promise.allSettled(both)).toEqual([cancelled, cancelled])
})
