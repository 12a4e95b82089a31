import { expect, test } from 'vitest'
import { parseVersionPair } from './comparison.ts'

test('C1 C4 the URL holds the compared versions, and other values are ignored', () => {
  const both = { from: '0123456789abcdef', to: 'fedcba9876543210' }
  expect(parseVersionPair(both)).toEqual(both)
  expect(parseVersionPair({ from: '../x', to: 7 })).toEqual({})
})
