import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editDistance, findClosestWord } from './suggest.ts'

test('SV5 a typo finds the intended key, an unrelated word finds none', () => {
  const known = ['port', 'host', 'public_url', 'allowed_hosts']
  expect(findClosestWord('prot', known)).toBe('port')
  expect(findClosestWord('Port', known)).toBe('port')
  expect(findClosestWord('publicUrl', known)).toBe('public_url')
  expect(findClosestWord('alowed_host', known)).toBe('allowed_hosts')
  expect(findClosestWord('workspace', known)).toBeUndefined()
})

test('SV5 the edit distance is zero for equal words, symmetric and at most one per edit', () => {
  const word = fc.string({ maxLength: 8 })
  fc.assert(
    fc.property(word, word, fc.nat(8), (a, b, at) => {
      expect(editDistance(a, b) === 0).toBe(a === b)
      expect(editDistance(a, b)).toBe(editDistance(b, a))
      expect(editDistance(a, a.slice(0, at) + a.slice(at + 1))).toBeLessThanOrEqual(1)
    }),
  )
})
