import type { Mode } from '#approvals'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { configSchema } from '#base/config/index.ts'
import { resolveMode, toModeRules, stricterMode } from './mode.ts'

const rules = toModeRules(configSchema.parse({}))
const strictest = { ...rules, highRiskMode: 'strictest' } as const

test.each([
  [0, 'escalate'],
  [0.4, 'escalate'],
  [0.4999, 'escalate'],
  [0.5, 'suggest'],
  [0.7999, 'suggest'],
  [0.8, 'act'],
  [1, 'act'],
])('M2 a score of %d gives %s', (score, mode) => {
  const given = { score, gateOpen: true, highRisk: false }
  expect(resolveMode(rules, given)).toEqual({ mode, gated: false })
})

test('M2 the configuration sets the thresholds', () => {
  const own = toModeRules(
    configSchema.parse({ authority: { thresholds: { suggest: 0.2, act: 0.4 } } }),
  )
  expect(resolveMode(own, { score: 0.4, gateOpen: true, highRisk: false }).mode).toBe('act')
  expect(resolveMode(own, { score: 0.2, gateOpen: true, highRisk: false }).mode).toBe('suggest')
})

test.each([0, 0.3, 0.5, 0.8, 1])(
  'M1 a high-risk field is a suggestion at a score of %d',
  (score) => {
    for (const open of [true, false])
      expect(resolveMode(rules, { score, gateOpen: open, highRisk: true })).toEqual({
        mode: 'suggest',
        gated: false,
      })
  },
)

test('M1 strictest uses the stricter of suggest and the mode by trust', () => {
  const of = (score: number) =>
    resolveMode(strictest, { score, gateOpen: true, highRisk: true }).mode
  expect([of(0.3), of(0.5), of(0.9)]).toEqual(['escalate', 'suggest', 'suggest'])
  const configured = configSchema.parse({ authority: { high_risk_mode: 'strictest' } })
  expect(toModeRules(configured).highRiskMode).toBe('strictest')
})

test('T11 a closed gate turns act into suggest, and only that', () => {
  const closed = (score: number) => resolveMode(rules, { score, gateOpen: false, highRisk: false })
  expect(closed(0.8)).toEqual({ mode: 'suggest', gated: true })
  expect(closed(0.5)).toEqual({ mode: 'suggest', gated: false })
  expect(closed(0.3)).toEqual({ mode: 'escalate', gated: false })
})

test('M6 the stricter of two modes relaxes neither', () => {
  const order: Mode[] = ['act', 'suggest', 'escalate']
  const mode = fc.constantFrom(...order)
  fc.assert(
    fc.property(mode, mode, (a, b) => {
      expect(order.indexOf(stricterMode(a, b))).toBe(Math.max(order.indexOf(a), order.indexOf(b)))
    }),
  )
})
