import { expect, test } from 'vitest'
import { pluralize, formatShare } from './byte-size.ts'

test('C5 what takes little room is not said to take none', () => {
  expect(
    [0, 1, 90, 99, 100, 2500, 9999, 10_000].map((bytes) => formatShare(bytes, 10_000)),
  ).toEqual(['0%', '< 1%', '< 1%', '< 1%', '1%', '25%', '100%', '100%'])
  expect(formatShare(0, 0)).toBe('0%')
})

test('C5 large numbers have their thousands set apart', () => {
  expect(pluralize(3101, 'file', 'files')).toBe('3,101 files')
})
