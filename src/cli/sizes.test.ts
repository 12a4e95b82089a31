import { expect, test } from 'vitest'
import { formatBytes, pluralize } from './output.ts'

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [1234, '1.2 kB'],
  [99_949, '99.9 kB'],
  [99_950, '100 kB'],
  [999_499, '999 kB'],
  [999_500, '1.0 MB'],
  [5e9, '5.0 GB'],
  [7e15, '7000 TB'],
])('K2 %d bytes are formatted as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

test('K2 adds a plural s except for 1', () => {
  expect([0, 1, 2].map((count) => pluralize(count, 'file'))).toEqual([
    '0 files',
    '1 file',
    '2 files',
  ])
})
