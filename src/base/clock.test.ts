import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createClockWatch, mostClockStep } from './clock.ts'

test('A11 the clock is behind from more than 5 minutes before the newest time seen, until it is not', () => {
  let at = 1_000_000_000
  const behind = createClockWatch(() => at, at)
  at -= mostClockStep
  expect(behind()).toBeUndefined()
  at -= 1
  expect(behind()).toBe(1_000_000_000)
  at += 1
  expect(behind()).toBeUndefined()
})

test('A11 the newest entry counts as seen, and every later look does', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 10 * mostClockStep })), (times) => {
      const last = 5 * mostClockStep
      let at = 0
      const behind = createClockWatch(() => at, last)
      let newest = last
      for (at of times) {
        newest = Math.max(newest, at)
        expect(behind()).toBe(newest - at > mostClockStep ? newest : undefined)
      }
    }),
  )
})
