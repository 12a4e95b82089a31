import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { evidenceLevel, decayEvidence, wasGateOpen } from '../convert-evidence.ts'

test.each([
  [0, 0, 0.3],
  [6, 0, 0.4854],
  [7, 0, 0.5112],
  [24, 0, 0.7956],
  [25, 0, 0.8058],
  [52, 0, 0.9514],
  [25, 1, 0.4956],
  [25, 2.5, 0.1547],
  [98, 2, 0.9075],
  [97, 3, 0.7877],
  [95, 5, 0.4463],
  [80, 20, 0],
])('T11 %d approvals and overrides worth %d give level %d', (good, bad, level) => {
  expect(Math.round(evidenceLevel({ good, bad }) * 10_000) / 10_000).toBe(level)
})

// Computed with 30 digits by mpmath's betainc.
test.each([
  [0.001, 0.375, 0.1670187873646199],
  [3, 0.125, 0.3434994134037469],
  [10, 0.25, 0.473470407583906],
  [30, 3.625, 0.07651599561504985],
  [60.5, 1.875, 0.706595942094103],
])('T11 fractional evidence, %d good and %d bad, is weighted to 13 digits', (good, bad, level) => {
  expect(evidenceLevel({ good, bad })).toBeCloseTo(level, 13)
})

test('T11 for integer overrides the level equals the closed form of the distribution', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 40 }), (good, bad) => {
      const a = 6.9536 + good
      let term = 1
      let sum = 0
      for (let wrong = 0; wrong <= bad; wrong++) {
        sum += term
        term *= ((a + wrong) / (wrong + 1)) * 0.05
      }
      expect(evidenceLevel({ good, bad })).toBeCloseTo(1 - 0.95 ** a * sum, 10)
    }),
  )
})

test('T11 the gate of earlier versions was open from 25 approvals on', () => {
  expect([24, 25].map((good) => wasGateOpen({ good, bad: 0 }))).toEqual([false, true])
  expect(evidenceLevel({ good: 980, bad: 20 })).toBeCloseTo(evidenceLevel({ good: 98, bad: 2 }), 12)
})

test('T11 evidence halves every 17 idle days: 25 approvals idle for 10 days give 0.702', () => {
  expect(decayEvidence({ good: 8, bad: 2 }, 17)).toEqual({ good: 4, bad: 1 })
  expect(decayEvidence({ good: 8, bad: 2 }, 0)).toEqual({ good: 8, bad: 2 })
  expect(evidenceLevel(decayEvidence({ good: 25, bad: 0 }, 10))).toBeCloseTo(0.702, 3)
  expect(decayEvidence({ good: 100, bad: 0 }, 1_000_000).good).toBeGreaterThan(0)
})
