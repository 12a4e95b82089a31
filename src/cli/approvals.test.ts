import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from '#base/ids.ts'
import { resolvePrefix, shortenIds } from './lookup.ts'

test('K2 a shortened id resolves to the full id', () => {
  expect(shortenIds([])('0199a3f2-1b2c-7aaa-8bbb-0123456789ab')).toBe('0199a3f2')
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), (count) => {
      const ids = Array.from({ length: count }, newId)
      const short = shortenIds(ids)
      for (const id of ids) expect(resolvePrefix(short(id), ids, 'approval')).toBe(id)
    }),
  )
})
