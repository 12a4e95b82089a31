import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  brierScore,
  calibrationError,
  mean,
  percentile,
  ratio,
  wilsonInterval,
} from './statistics.ts'
import type { Claim } from './statistics.ts'

const claim = (confidence: number, isRight: boolean): Claim => ({ confidence, isRight })
const share = fc.double({ min: 0, max: 1, noNaN: true })
const someClaims = fc.array(fc.record({ confidence: share, isRight: fc.boolean() }), {
  minLength: 1,
  maxLength: 60,
})

describe('confidence intervals', () => {
  // Computed by hand: (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n) with z = 1.959964.
  test.each([
    [8, 10, 0.490162, 0.943318],
    [0, 10, 0, 0.277533],
    [10, 10, 0.722467, 1],
    [1, 1, 0.206549, 1],
    [95, 100, 0.88825, 0.978456],
  ])('Q1 of %d in %d the Wilson interval is %d to %d', (part, all, low, high) => {
    const found = wilsonInterval(part, all)
    expect(found.low).toBeCloseTo(low, 5)
    expect(found.high).toBeCloseTo(high, 5)
  })

  test('Q1 the interval contains the share, is within 0 and 1, and narrows with more data', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.integer({ min: 1, max: 500 }), (some, all) => {
        const part = Math.min(some, all)
        const { low, high } = wilsonInterval(part, all)
        const wide = high - low
        const more = wilsonInterval(part * 4, all * 4)
        expect(low).toBeGreaterThanOrEqual(0)
        expect(high).toBeLessThanOrEqual(1)
        expect(low).toBeLessThanOrEqual(part / all + 1e-9)
        expect(high).toBeGreaterThanOrEqual(part / all - 1e-9)
        expect(more.high - more.low).toBeLessThan(wide)
      }),
    )
  })
})

describe('confidence against outcome', () => {
  test('Q1 the Brier score is the mean squared distance', () => {
    // (0.1² + 0.8² + 0.4²) / 3
    const claims = [claim(0.9, true), claim(0.8, false), claim(0.6, true)]
    expect(brierScore(claims)).toBeCloseTo(0.27, 10)
    expect(brierScore([])).toBeNull()
  })

  test('Q1 the calibration error weights ten bins of confidence by their size', () => {
    // 0.90–1: two of two right at 0.95: 0.05 · 2/4. 0.5–0.6: one of two right at 0.55: 0.05 · 2/4.
    const good = [claim(0.92, true), claim(0.98, true), claim(0.52, true), claim(0.58, false)]
    expect(calibrationError(good)).toBeCloseTo(0.05, 10)
    // Each in its own bin: (0.1 + 0.8 + 0.4) / 3.
    const bad = [claim(0.9, true), claim(0.8, false), claim(0.6, true)]
    expect(calibrationError(bad)).toBeCloseTo(1.3 / 3, 10)
    // 1 belongs to the last bin, and 0.1 to the second.
    expect(calibrationError([claim(1, true), claim(0.95, false)])).toBeCloseTo(0.475, 10)
    expect(calibrationError([claim(0.1, false), claim(0.09, false)])).toBeCloseTo(0.095, 10)
    expect(calibrationError([])).toBeNull()
  })

  test('Q1 both are within 0 and 1, 0 for an oracle and 1 for its opposite', () => {
    fc.assert(
      fc.property(someClaims, (claims) => {
        for (const value of [brierScore(claims), calibrationError(claims)]) {
          expect(value).toBeGreaterThanOrEqual(0)
          expect(value).toBeLessThanOrEqual(1 + 1e-9)
        }
        const sure = claims.map(({ isRight }) => claim(isRight ? 1 : 0, isRight))
        const wrong = claims.map(({ isRight }) => claim(isRight ? 0 : 1, isRight))
        expect([brierScore(sure), calibrationError(sure)]).toEqual([0, 0])
        expect(brierScore(wrong)).toBe(1)
        expect(calibrationError(wrong)).toBeCloseTo(1, 9)
      }),
    )
  })
})

describe('percentiles', () => {
  test('Q1 percentiles are by nearest rank', () => {
    const values = [15, 20, 35, 40, 50]
    expect(percentile(values, 0.5)).toBe(35)
    expect(percentile(values, 0.4)).toBe(20)
    expect(percentile(values, 0.95)).toBe(50)
    expect(percentile([7], 0.5)).toBe(7)
    expect(percentile([3, 1], 0.5)).toBe(1)
    expect(percentile([], 0.5)).toBeNull()
  })

  test('Q1 a percentile is one of the values, and the given share does not exceed it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), share, (values, wanted) => {
        const found = percentile(values, wanted) ?? NaN
        expect(values).toContain(found)
        const below = values.filter((value) => value <= found).length
        expect(below / values.length).toBeGreaterThanOrEqual(wanted - 1e-9)
      }),
    )
  })

  test('Q1 without values there is no mean and no share', () => {
    expect(mean([])).toBeNull()
    expect(mean([1, 2])).toBe(1.5)
    expect(ratio(0, 0)).toBeNull()
    expect(ratio(1, 4)).toBe(0.25)
    expect(ratio(5, 4)).toBe(1)
  })
})
