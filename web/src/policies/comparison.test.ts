import { expect, test } from 'vitest'
import { parseVersionPair } from './comparison.ts'

test('C1 C4 which versions are compared stands in the address, and nothing else gets through', () => {
  const both = { from: '0123456789abcdef', to: 'fedcba9876543210' }
  expect(parseVersionPair(both)).toEqual(both)
  expect(parseVersionPair({ from: '../x', to: 7 })).toEqual({})
})
