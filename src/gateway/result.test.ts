import { expect, test } from 'vitest'
import { limitResult, maskResult } from './result.ts'

const text = (value: string) => ({ type: 'text', text: value })

test('U9 a result within the limit is unchanged', () => {
  const result = { content: [text('x')], structuredContent: { a: 1 }, _meta: { b: 2 } }
  expect(limitResult(result)).toBe(result)
})

test('U9 a larger result keeps the first part of its text and says so', () => {
  const result = {
    content: [text('a'.repeat(900_000)), text('b'.repeat(900_000)), { type: 'image', data: 'x' }],
    structuredContent: { all: 'a'.repeat(900_000) },
    isError: true,
  }
  const { content, ...rest } = limitResult(result) as { content: { text: string }[] }
  expect(content.map(({ text: part }) => part.length).slice(0, 2)).toEqual([900_000, 148_576])
  expect(content.at(-1)?.text).toContain('only the first part of its text is shown')
  expect(rest).toEqual({ isError: true })
})

test('U9 secrets are masked in every text, and media stay as they are', () => {
  const mask = (value: string) => value.replaceAll('secret', '[redacted]')
  const result = {
    content: [
      text('the secret'),
      { type: 'image', mimeType: 'image/png', data: 'secret' },
      { type: 'resource', resource: { uri: 'x', mimeType: 'a/b', blob: 'secret' } },
    ],
    structuredContent: { list: ['secret', 1, null, true] },
  }
  expect(maskResult(result, mask)).toEqual({
    content: [
      text('the [redacted]'),
      { type: 'image', mimeType: 'image/png', data: 'secret' },
      { type: 'resource', resource: { uri: 'x', mimeType: 'a/b', blob: 'secret' } },
    ],
    structuredContent: { list: ['[redacted]', 1, null, true] },
  })
})
