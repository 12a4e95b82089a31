import { expect, test } from 'vitest'
import type { ReadFile } from './file.ts'
import { toPreview } from './preview.ts'

const read = (part: Partial<ReadFile>): ReadFile => ({
  success: true,
  path: '/w/a',
  size_bytes: 3,
  modified_at: '2026-11-15T12:00:00Z',
  encoding: 'utf-8',
  mime: 'text/plain',
  content: 'abc',
  ...part,
})

test('C5 text is shown as text, whatever it would be drawn as elsewhere', () => {
  expect(toPreview(read({ content: '<script>', mime: 'text/html' }))).toEqual({
    kind: 'text',
    text: '<script>',
    isCut: false,
  })
})

test('C5 a text that goes on says so, and one out of a document is shown', () => {
  expect(toPreview(read({ next_byte: 3 }))).toMatchObject({ isCut: true })
  const document = { mime: 'application/pdf', warnings: ['Taken out of a document.'] }
  expect(toPreview(read(document))).toMatchObject({ kind: 'text', isCut: false })
})

test('C5 only what an image element draws is a picture', () => {
  const binary = { encoding: 'base64', content: 'AAAA' }
  expect(toPreview(read({ ...binary, mime: 'image/png' }))).toEqual({
    kind: 'picture',
    source: 'data:image/png;base64,AAAA',
  })
  for (const mime of ['application/zip', 'text/html', 'image/png;x', 'audio/mpeg'])
    expect(toPreview(read({ ...binary, mime: mime })).kind, mime).toBe('none')
})

test('PV5 a sensitive file is named and not shown, picture or text', () => {
  for (const part of [{}, { encoding: 'base64', mime: 'image/png' }])
    expect(toPreview(read({ ...part, sensitive: true }))).toEqual({ kind: 'withheld' })
})

test('C5 a drawing in text is drawn, where all of it is there', () => {
  const drawing = { mime: 'image/svg+xml', content: '<svg>#</svg>' }
  expect(toPreview(read(drawing))).toEqual({
    kind: 'picture',
    source: 'data:image/svg+xml;charset=utf-8,%3Csvg%3E%23%3C%2Fsvg%3E',
  })
  expect(toPreview(read({ ...drawing, next_byte: 5 })).kind).toBe('text')
})
