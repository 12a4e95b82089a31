import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toDistinctNames } from './distinct-name.ts'

test('C11 each item gets its first unique name', () => {
  const items = ['a/x', 'b/x', 'a/y', 'a/z', 'a/z']
  const names = toDistinctNames(items, (item) => item.slice(2), String)
  expect(names).toEqual(['a/x', 'b/x', 'y', 'a/z (4)', 'a/z (5)'])
})

test('C11 all names are unique', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a/x', 'b/x', 'b/y')), (items) => {
      const names = toDistinctNames(items, (item) => item.slice(2), String)
      expect(new Set(names).size).toBe(items.length)
    }),
  )
})
