import { expect, test } from 'vitest'
import { fitting } from './words.ts'

test('SV12 F4 a list ends where a usual answer does, or where any does if more is asked for', () => {
  const items = Array.from({ length: 10_000 }, () => 'x'.repeat(998))
  expect(fitting(items)).toHaveLength(24)
  expect(fitting(items, undefined, true)).toHaveLength(3496)
  expect(fitting(items, ({ length }) => length + 1, true)).toHaveLength(3500)
  expect(fitting(['x'.repeat(4_000_000)], undefined, true)).toHaveLength(1)
  expect(fitting([])).toEqual([])
})

test('SV12 F4 a list ends by what it takes up on the wire, in any script', () => {
  const items = Array.from({ length: 10_000 }, () => '日'.repeat(332))
  expect(fitting(items)).toHaveLength(25)
  expect(fitting(items, undefined, true)).toHaveLength(3503)
})
