import { expect, test } from 'vitest'
import { lastLines, linesBetween } from './lines.ts'
import type { Source } from './lines.ts'
import { utf8 } from './encoding.ts'

const rest = async () => {}
const megabyte = 1024 ** 2

/** Ten gigabytes of lines of 64 bytes that are never anywhere at once. */
function endless(): Source & { readonly asked: number[] } {
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

test('F4 the last lines of ten gigabytes are found from the end, without the rest', async () => {
  const source = endless()
  expect(await lastLines(source, { count: 3, maxBytes: megabyte }, rest)).toEqual({
    from: source.size - 3 * 64,
    to: source.size,
  })
  expect(source.asked.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(megabyte)
})

test('F4 lines near the start of ten gigabytes end the reading, in small pieces', async () => {
  const source = endless()
  const lines = await linesBetween(
    source,
    { first: 100_000, last: 100_009, maxBytes: megabyte },
    rest,
  )
  expect(lines).toEqual({ from: 99_999 * 64, to: 100_009 * 64, next: 100_010 })
  expect(Math.max(...source.asked)).toBeLessThanOrEqual(megabyte)
  expect(source.asked.length).toBeLessThan(50)
})

test('F4 a page of lines ends where no more fits', async () => {
  const lines = await linesBetween(endless(), { first: 1, last: 1e9, maxBytes: 1000 }, rest)
  expect(lines).toEqual({ from: 0, to: 15 * 64, next: 16 })
  const from = 10 * 1024 ** 3 - 15 * 64
  const cut = { from, to: 10 * 1024 ** 3, before: from }
  expect(await lastLines(endless(), { count: 1e9, maxBytes: 1000 }, rest)).toEqual(cut)
  expect(await lastLines(endless(), { count: 16, maxBytes: 1000 }, rest)).toEqual(cut)
  expect(await lastLines(endless(), { count: 15, maxBytes: 1000 }, rest)).not.toHaveProperty(
    'before',
  )
})
