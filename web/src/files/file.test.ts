import { expect, test } from 'vitest'
import { formatPurge } from './file.ts'

test('TR1 what could not be removed is not called gone', () => {
  expect(formatPurge('a.txt', { purged: ['1'], count: 1 })).toBe('Deleted a.txt.')
  expect(formatPurge('a', { purged: ['1'], count: 1, left_in: ['/w/.cowork/trash/1'] })).toBe(
    'Deleted a, but some files remain in /w/.cowork/trash/1.',
  )
})
