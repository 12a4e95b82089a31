import { expect, test } from 'vitest'
import { comparedOf } from './comparison.ts'

test('C1 C4 which versions are compared stands in the address, and nothing else gets through', () => {
  const both = { from: '0123456789abcdef', to: 'fedcba9876543210' }
  expect(comparedOf(both)).toEqual(both)
  expect(comparedOf({ from: '../x', to: 7 })).toEqual({})
})
