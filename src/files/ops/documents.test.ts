import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildDocx, paragraph, buildPdf, word } from '../../../test/documents.ts'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { FileError } from '../confine/file-error.ts'
import { extractText } from './documents.ts'

const neverCancelled = () => Promise.resolve()

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(() => files.close())

test('FT2 reads the text of a PDF and marks it as extracted', async () => {
  files.put({ 'a.pdf': buildPdf('Quarterly report', 'Second line') })
  const answer = await files.run('read', { at: inWorkspace('a.pdf'), maxBytes: 1000 })
  expect(answer).toMatchObject({ kind: 'document', mime: 'application/pdf', extracted: true })
  expect(answer.body?.toString()).toContain('Quarterly report')
  expect(answer.body?.toString()).toContain('Second line')
})

test('FT2 reads the text of a Word file, also by lines, and its raw bytes on request', async () => {
  const docx = buildDocx(['one', 'two', 'three'].map(paragraph).join(''))
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

test('FT2 refuses damaged documents', async () => {
  const whole = buildDocx(paragraph('text'))
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

test('FT2 limits the memory of a document that unpacks to far more than its size', async () => {
  const bomb = buildDocx(Buffer.alloc(64 * 1024 ** 2, paragraph('x')))
  expect(bomb.length).toBeLessThan(1024 ** 2)
  await expect(
    extractText(bomb, word, neverCancelled, {
      ms: 50_000,
      heapMb: 64,
      growthBytes: 128 * 1024 ** 2,
    }),
  ).rejects.toMatchObject({ code: 'unreadable' })
})

test('FT2 stops extraction after the time limit', async () => {
  const slow = buildPdf('text')
  await expect(
    extractText(slow, 'application/pdf', neverCancelled, {
      ms: 1,
      heapMb: 256,
      growthBytes: 2 ** 30,
    }),
  ).rejects.toMatchObject({ code: 'timeout' })
})

test('FT2 stops extraction when the call is cancelled, also while queued', async () => {
  const bomb = buildDocx(Buffer.alloc(64 * 1024 ** 2, paragraph('x')))
  let isCancelled = false
  const yieldNow = async () => {
    if (isCancelled) throw new FileError('cancelled', 'The call was cancelled.')
  }
  const limits = { ms: 50_000, heapMb: 1024, growthBytes: 2 ** 40 }
  const both = [1, 2].map(() => extractText(bomb, word, yieldNow, limits))
  isCancelled = true
  const cancelled = { status: 'rejected', reason: expect.objectContaining({ code: 'cancelled' }) }
  expect(await Promise.allSettled(both)).toEqual([cancelled, cancelled])
})

test('F4 FT2 reads the text of a document over the binary limit in parts', async () => {
  const small = openTestOps({ limits: { maxFileBytes: 100_000, maxBinaryReadBytes: 500 } })
  const pages = buildDocx(['one', 'two', 'three'].map(paragraph).join(''))
  expect(pages.length).toBeGreaterThan(500)
  small.put({ 'a.docx': pages, 'a.pdf': Buffer.concat([buildPdf('text'), Buffer.alloc(2000, 10)]) })
  const at = inWorkspace('a.docx')
  const whole = await small.run('read', { at, maxBytes: 5 })
  expect(whole).toMatchObject({ extracted: true, next: 5 })
  const range = { by: 'lines', from: 3, to: 3 } as const
  const line = await small.run('read', { at, maxBytes: 1000, range })
  expect(line.body?.toString()).toBe('two\n')
  const pdf = await small.run('read', { at: inWorkspace('a.pdf'), maxBytes: 1000 })
  expect(pdf.body?.toString()).toBe('text')
  await small.close()
})

test('F4 FT2 refuses any part of a document over the file limit', async () => {
  const small = openTestOps({ limits: { maxFileBytes: 500, maxBinaryReadBytes: 500 } })
  small.put({ 'a.docx': buildDocx(paragraph('one')) })
  const ask = { at: inWorkspace('a.docx'), maxBytes: 1000 }
  expect(await small.refusal('read', ask)).toBe('too_large')
  const range = { by: 'head', lines: 1 } as const
  expect(await small.refusal('read', { ...ask, range })).toBe('too_large')
  // Raw bytes are readable as for any file.
  const bytes = { by: 'bytes', from: 0, to: 4 } as const
  expect((await small.run('read', { ...ask, raw: true, range: bytes })).body).toHaveLength(4)
  await small.close()
})

test('FT2 refuses broken and locked PDFs with the reason', async () => {
  const whole = buildPdf('Quarterly report')
  const pages = '/Kids [2 0 R] /Count 1000000000'
  const endless = whole.toString('latin1').replace('/Kids [3 0 R] /Count 1', pages)
  const broken = {
    'cut.pdf': whole.subarray(0, 300),
    'garbage.pdf': Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(200_000, 'Ï€x\0')]),
    'no-pages.pdf': '%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer << /Root 1 0 R >>\n',
  }
  files.put({ ...broken, 'locked.pdf': lockedPdf, 'endless.pdf': endless, 'whole.pdf': whole })
  const read = (path: string) => files.run('read', { at: inWorkspace(path), maxBytes: 1000 })
  for (const path of Object.keys(broken))
    await expect(read(path), path).rejects.toMatchObject({
      code: 'unreadable',
      message: 'Cannot extract text from the document.',
    })
  await expect(read('locked.pdf')).rejects.toMatchObject({
    code: 'unreadable',
    message: 'The document is password-protected.',
  })
  // A page tree that contains itself has no pages.
  expect((await read('endless.pdf')).body).toHaveLength(0)
  expect((await read('whole.pdf')).body?.toString()).toBe('Quarterly report')
})

/** An encryption dictionary with an unknown password. */
const encrypted = `/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${'41'.repeat(32)}> /U <${'42'.repeat(32)}> >>`
const lockedPdf = buildPdf('Secret')
  .toString('latin1')
  .replace('/Root 1 0 R', `/Root 1 0 R /ID [<00><00>] ${encrypted}`)
