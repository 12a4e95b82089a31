import { expect, test } from 'vitest'
import { formatAgo, formatDay, formatTimeLeft, formatDuration } from './time.ts'

const noon = new Date(2026, 10, 15, 12).getTime()
const minute = 60_000

test('C14 times are short', () => {
  expect([0, 3, 90, 60 * 50].map((minutes) => formatAgo(noon - minutes * minute, noon))).toEqual([
    'just now',
    '3 min ago',
    '1 h ago',
    '2 d ago',
  ])
  expect(
    [-1, 0.2, 10.4, 90, 60 * 72].map((minutes) => formatTimeLeft(noon + minutes * minute, noon)),
  ).toEqual(['expired', '1 min', '10 min', '2 h', '3 days'])
  expect([12, 1500, 3 * minute].map(formatDuration)).toEqual(['12 ms', '1.5 s', '3 min'])
})

test('C8 today and yesterday have names', () => {
  const names = [0, 1, 2].map((days) => formatDay(noon - days * 24 * 60 * minute, noon))
  expect(names.slice(0, 2)).toEqual(['Today', 'Yesterday'])
  expect(names[2]).toContain('13')
})
