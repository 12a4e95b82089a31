import { expect, test } from 'vitest'
import { lastLines, linesBetween } from './lines.ts'
import type { Source } from './lines.ts'
import { utf8 } from './encoding.ts'

const yieldNow = async () => {}
const megabyte = 1024 ** 2

/** A virtual file of ten gigabytes with lines of 64 bytes. */
function createVirtualFile(): Source & { readonly asked: number[] } {
  const asked: number[] = []
  const size = 10 * 1024 ** 3
  return {
    asked,
    size,
    coding: utf8,
    read(position, length) {
      asked.push(length)
      const bytes = Buffer.alloc(Math.min(length, size - position), 'x')
      for (let at = 63 - (position % 64); at < bytes.length; at += 64) bytes[at] = 10
      return bytes
    },
  }
}

test('F4 finds the last lines of ten gigabytes from the end, without reading the rest', async () => {
  const source = createVirtualFile()
  expect(await lastLines(source, { count: 3, maxBytes: megabyte }, yieldNow)).toEqual({
    from: source.size - 3 * 64,
    to: source.size,
  })
  expect(source.asked.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(megabyte)
})

test('F4 stops reading ten gigabytes after lines near the start, in small chunks', async () => {
  const source = createVirtualFile()
  const lines = await linesBetween(
    source,
    { first: 100_000, last: 100_009, maxBytes: megabyte },
    yieldNow,
  )
  expect(lines).toEqual({ from: 99_999 * 64, to: 100_009 * 64, next: 100_010 })
  expect(Math.max(...source.asked)).toBeLessThanOrEqual(megabyte)
  expect(source.asked.length).toBeLessThan(50)
})

test('F4 a page of lines ends at the size limit', async () => {
  const lines = await linesBetween(
    createVirtualFile(),
    { first: 1, last: 1e9, maxBytes: 1000 },
    yieldNow,
  )
  expect(lines).toEqual({ from: 0, to: 15 * 64, next: 16 })
  const from = 10 * 1024 ** 3 - 15 * 64
  const cut = { from, to: 10 * 1024 ** 3, before: from }
  expect(await lastLines(createVirtualFile(), { count: 1e9, maxBytes: 1000 }, yieldNow)).toEqual(
    cut,
  )
  expect(await lastLines(createVirtualFile(), { count: 16, maxBytes: 1000 }, yieldNow)).toEqual(cut)
  expect(
    await lastLines(createVirtualFile(), { count: 15, maxBytes: 1000 }, yieldNow),
  ).not.toHaveProperty('before')
})
