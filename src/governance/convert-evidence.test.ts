import { expect, test } from 'vitest'
import { configSchema } from '#base/config/index.ts'
import { convertStanding, convertTrust } from './convert-evidence.ts'
import { initialTrust, toTrustRules } from './rules/trust.ts'

const rules = toTrustRules(configSchema.parse({}))
const day = 86_400_000
const none = { good: 0, bad: 0 }

test.each([
  [25, 0, 25],
  [60, 0.5, 25],
  [24, 0, 24],
  [24.2, 0, 24],
  [50, 2.5, 50 - 150],
  [20, 0.125, 20 - 50],
  [3, 9, -150],
  [0, 0, 0],
])('T11 SV8 evidence of %d good and %d bad becomes a credit of %d', (good, bad, credit) => {
  expect(convertStanding({ good, bad })).toEqual({ credit, strikes: 0, clean: 0 })
})

test.each([
  [NaN, 0],
  [30, NaN],
  [Infinity, 0],
  [30, -0.9],
  [-5, 0],
])('T11 SV8 invalid evidence of %d good and %d bad gives no credit', (good, bad) => {
  expect(convertStanding({ good, bad })).toEqual({ credit: 0, strikes: 0, clean: 0 })
})

test('T11 SV8 evidence decays until the conversion, and credit decays afterwards', () => {
  const trust = initialTrust(rules, 0)
  const evidence = { low: none, normal: { good: 40, bad: 0 }, high: { good: 24, bad: 0 } }
  const { standings, seenAt } = convertTrust(trust, evidence, 17 * day)
  expect([standings.normal.credit, standings.high.credit]).toEqual([20, 12])
  expect(seenAt).toBe(17 * day)
})

test.each([
  [0.9, 0, true],
  [0.79, 0, false],
  [0.9, 0.125, false],
])('RS2 SV8 a score of %d with faults of %d stays vouched for: %s', (score, bad, vouched) => {
  const trust = { ...initialTrust(rules, 0), score, vouched: true }
  const evidence = { low: none, normal: { good: 30, bad }, high: none }
  expect(convertTrust(trust, evidence, 0).vouched).toBe(vouched)
})
