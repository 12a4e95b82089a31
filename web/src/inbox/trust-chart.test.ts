import { expect, test } from 'vitest'
import { buildBands, chartDays, stepPath } from './trust-chart.ts'

const now = Date.parse('2026-11-15T12:00:00Z')
const box = { width: 600, height: 80 }
const point = (daysAgo: number, score: number) => ({
  at: new Date(now - daysAgo * 86_400_000).toISOString(),
  score,
  cause: 'approval',
})

test('C2 trust is drawn in steps', () => {
  expect(stepPath([point(30, 0.3), point(15, 0.5), point(3, 0.45)], now, box)).toBe(
    'M0 56H300V40H540V44H600',
  )
  expect(stepPath([point(chartDays * 2, 0.5)], now, box)).toBe('M0 40H600')
  expect(stepPath([point(4, 0.3), point(1, 0.5)], now, box)).toBe('M0 56H450V40H600')
  expect(stepPath([], now, box)).toBe('')
})

test('C2 a short history has one step of equal width per decision', () => {
  const second = 1 / 86_400
  const hour = [point(3600 * second, 0.3), point(8 * second, 0.32), point(7 * second, 0.24)]
  expect(stepPath(hour, now, box)).toBe('M0 56H200V54.4H400V60.8H600')
  expect(stepPath([point(0, 0.3)], now, box)).toBe('M0 56H600')
})

test('C2 M2 the bands of the modes fill the height', () => {
  expect(buildBands({ suggest: 0.5, act: 0.8 }, 80)).toEqual([
    { mode: 'act', y: 0, height: 16 },
    { mode: 'suggest', y: 16, height: 24 },
    { mode: 'escalate', y: 40, height: 40 },
  ])
})
