import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createClockMonitor, maxClockStepMs, formatRfc3339 } from './clock.ts'

test('A11 the clock is behind while it is more than 5 minutes before the newest time seen', () => {
  let at = 1_000_000_000
  const behind = createClockMonitor(() => at, at)
  at -= maxClockStepMs
  expect(behind()).toBeUndefined()
  at -= 1
  expect(behind()).toBe(1_000_000_000)
  at += 1
  expect(behind()).toBeUndefined()
})

test('A11 the newest entry and every later check count as seen times', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 10 * maxClockStepMs })), (times) => {
      const last = 5 * maxClockStepMs
      let at = 0
      const behind = createClockMonitor(() => at, last)
      let newest = last
      for (at of times) {
        newest = Math.max(newest, at)
        expect(behind()).toBe(newest - at > maxClockStepMs ? newest : undefined)
      }
    }),
  )
})

test('FT10 times are formatted as RFC 3339 in UTC', () => {
  const time = fc.oneof(
    fc.integer({ min: -8.64e15, max: 8.64e15 }),
    fc.integer({ min: -200_000, max: 200_000 }),
    fc.double({ min: -1e6, max: 4e12, noNaN: true }),
  )
  fc.assert(
    fc.property(fc.array(time), (times) => {
      expect(times.map(formatRfc3339)).toEqual(times.map((at) => new Date(at).toISOString()))
    }),
  )
  for (const none of [NaN, Infinity, 9e15]) expect(() => formatRfc3339(none)).toThrow(RangeError)
})
