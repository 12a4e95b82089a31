import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  formatChecks,
  computeCreditBar,
  formatCredit,
  formatForgiveness,
  isForgivable,
  formatKindCredit,
  describeSetTrust,
  formatStrikes,
} from './class-standing.ts'
import { classStanding, standing } from './trust-rows.fixture.ts'

const credit = (now: number) => ({ now, needed: 25 })

test('C3 credit fills the bar from the left, and debt moves zero to the right', () => {
  expect(computeCreditBar(credit(0))).toEqual({ zero: 0, debt: 0, earned: 0 })
  expect(computeCreditBar(credit(10))).toEqual({ zero: 0, debt: 0, earned: 0.4 })
  expect(computeCreditBar(credit(25))).toEqual({ zero: 0, debt: 0, earned: 1 })
  expect(computeCreditBar(credit(-25))).toEqual({ zero: 0.5, debt: 0.5, earned: 0 })
  expect(formatCredit(credit(-25))).toBe('debt 25, 50 to go')
  expect(formatCredit(credit(7))).toBe('7 of 25')
})

test('C3 debt never fills the bar completely, and more debt never looks smaller', () => {
  fc.assert(
    fc.property(fc.integer({ min: -800, max: 24 }), (now) => {
      const [deep, less] = [computeCreditBar(credit(now)), computeCreditBar(credit(now + 1))]
      expect(deep.debt).toBeGreaterThanOrEqual(less.debt)
      expect(deep.earned).toBeLessThanOrEqual(less.earned)
      expect(deep.debt).toBeLessThan(0.9)
    }),
  )
})

test('C3 T14 strikes show when one is forgiven', () => {
  const strikes = (now: number, after?: number) =>
    formatStrikes({
      strikes: { now, most: 4, ...(after !== undefined && { forgiven_after: after }) },
    })
  expect(strikes(0)).toBeUndefined()
  expect(strikes(1, 15)).toBe('1 strike, forgiven after 15 clean checks')
  expect(strikes(3, 1)).toBe('3 strikes, one forgiven after 1 clean check')
})

test('C3 T13 a kind of action shows the missing credit', () => {
  expect(formatKindCredit({ kind: 'update', credit: 5, to_go: 0 })).toBe('complete')
  expect(formatKindCredit({ kind: 'update', credit: -45, to_go: 50 })).toBe('50 more')
})

test('C3 T14 pending checks name their cause', () => {
  const checks = (unread: number, lookBack: number) =>
    formatChecks({ checks: { rate: 0.1, unread, look_back: lookBack } })
  expect(checks(0, 0)).toBeUndefined()
  expect(checks(1, 0)).toBe('1 check pending')
  expect(checks(12, 10)).toBe('12 checks pending')
  expect(checks(10, 10)).toBe('Look-back: 10 actions pending')
})

test('C3 T16 only strikes and debts can be forgiven', () => {
  expect(isForgivable(classStanding({ credit: credit(3) }))).toBe(false)
  const owing = classStanding({ kinds: [{ kind: 'update', credit: -45, to_go: 50 }] })
  expect(isForgivable(owing)).toBe(true)
  expect(formatForgiveness(owing)).toBe('the debts of its kinds of action')
  const struck = classStanding({
    credit: credit(-75),
    strikes: { now: 2, most: 4, forgiven_after: 15 },
  })
  expect(isForgivable(struck)).toBe(true)
  expect(formatForgiveness(struck)).toBe('2 strikes and a debt of 75')
})

test('C3 T16 the effect of a score of 0.8 or more is described in advance', () => {
  const thresholds = { suggest: 0.5, act: 0.8 }
  const { classes } = standing()
  const says = (to: number, given = classes) => describeSetTrust(to, thresholds, given)
  expect(says(0.8)).toBe(
    'Autonomous at low and normal risk until its first error, never at high risk. Reviews confirm or lower the score later.',
  )
  expect(says(0.79)).toBe('No autonomy: a person approves every action in advance.')
  expect(says(0.4)).toContain('with urgent priority')
  expect(describeSetTrust(0.85, { suggest: 0.5, act: 0.9 }, classes)).toContain('No autonomy')
  const struck = (...risks: readonly string[]) =>
    classes.map((it) => (risks.includes(it.risk) ? { ...it, credit: credit(-25) } : it))
  expect(says(0.9, struck('normal'))).toContain('Not at normal risk')
  expect(says(0.9, struck('low', 'normal'))).toContain('No autonomy')
  expect(says(0.9, struck('high'))).toBe(says(0.9))
})
