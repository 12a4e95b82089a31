import { expect, test } from 'vitest'
import { takeFitting } from './shared-schemas.ts'

test('SV12 F4 a list ends where a usual answer does, or where any does if more is asked for', () => {
  const items = Array.from({ length: 10_000 }, () => 'x'.repeat(998))
  expect(takeFitting(items)).toHaveLength(24)
  expect(takeFitting(items, undefined, true)).toHaveLength(3496)
  expect(takeFitting(items, ({ length }) => length + 1, true)).toHaveLength(3500)
  expect(takeFitting(['x'.repeat(4_000_000)], undefined, true)).toHaveLength(1)
  expect(takeFitting([])).toEqual([])
})

test('SV12 F4 a list ends by what it takes up on the wire, in any script', () => {
  const items = Array.from({ length: 10_000 }, () => '日'.repeat(332))
  expect(takeFitting(items)).toHaveLength(25)
  expect(takeFitting(items, undefined, true)).toHaveLength(3503)
})
