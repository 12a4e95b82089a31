import { expect, test } from 'vitest'
import { buildBars, isRubberStamped, formatSeconds } from './quality.ts'

type Speed = Parameters<typeof isRubberStamped>[0]

const quality = (part: Partial<Speed> = {}): Speed => ({
  n_reviewed: 60,
  approval_rate: 0.98,
  rubber_stamp_share: 0.8,
  ...part,
})

test('C3 overrides are grouped by type and severity, most frequent first', () => {
  const of = (override_type: string, severity: string, count: number) => ({
    override_type,
    severity,
    count,
    rate: 0,
  })
  const bars = buildBars({
    overrides: [
      of('edge_case', 'low', 1),
      of('agent_wrong', 'high', 2),
      of('agent_wrong', 'low', 3),
    ],
  })
  expect(bars.map(({ type, total }) => `${type} ${total}`)).toEqual([
    'agent_wrong 5',
    'edge_case 1',
  ])
  expect(bars[0]?.parts.map(({ count }) => count)).toEqual([3, 0, 2, 0])
  expect(buildBars({ overrides: [] })).toEqual([])
})

test('C3 G3 the rubber-stamping warning needs enough fast approvals', () => {
  expect(isRubberStamped(quality())).toBe(true)
  expect(isRubberStamped(quality({ n_reviewed: 49 }))).toBe(false)
  expect(isRubberStamped(quality({ approval_rate: 0.95 }))).toBe(false)
  expect(isRubberStamped(quality({ rubber_stamp_share: 0.5 }))).toBe(false)
  expect(isRubberStamped(quality({ rubber_stamp_share: null }))).toBe(false)
})

test.each([
  [0.84, '0.8 s'],
  [42.4, '42 s'],
  [125, '2 min'],
  [5 * 3600, '5 h'],
  [3 * 86_400, '3 days'],
])('C3 %d s is shown as %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text)
})
