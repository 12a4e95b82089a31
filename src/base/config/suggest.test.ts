import fc from 'fast-check'
import { expect, test } from 'vitest'
import { distance, nearest } from './suggest.ts'

test('SV5 a typing slip finds the key that was meant, a stranger finds none', () => {
  const known = ['port', 'host', 'public_url', 'allowed_hosts']
  expect(nearest('prot', known)).toBe('port')
  expect(nearest('Port', known)).toBe('port')
  expect(nearest('publicUrl', known)).toBe('public_url')
  expect(nearest('alowed_host', known)).toBe('allowed_hosts')
  expect(nearest('workspace', known)).toBeUndefined()
})

test('SV5 the distance is zero for equal words only, symmetric, and one per edit at most', () => {
  const word = fc.string({ maxLength: 8 })
  fc.assert(
    fc.property(word, word, fc.nat(8), (a, b, at) => {
      expect(distance(a, b) === 0).toBe(a === b)
      expect(distance(a, b)).toBe(distance(b, a))
      expect(distance(a, a.slice(0, at) + a.slice(at + 1))).toBeLessThanOrEqual(1)
    }),
  )
})
