import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { configSchema } from '#base/config/index.ts'
import type { TrustStanding } from './standing.ts'
import {
  applyCleanCheck,
  applyIdleDecay,
  applyRight,
  applyRightOfKind,
  applyWrongAlone,
  applyWrongAloneOfKind,
  applyWrongAsked,
  checkRate,
  checksToForgiveness,
  computeDraw,
  computeEvidenceLevel,
  gateClosed,
  isSampled,
  newStanding,
  selectLookBack,
  toStandingRules,
} from './standing.ts'

const rules = toStandingRules(configSchema.parse({}))
const nothingUnread = { count: 0, oldestMs: 0 }
const day = 24 * 60 * 60 * 1000

const times = <T>(count: number, start: T, change: (value: T) => T): T =>
  Array.from({ length: count }).reduce<T>((value) => change(value), start)
const right = (count: number, start = newStanding) => times(count, start, (it) => applyRight(it))
const cleanChecks = (count: number, start: TrustStanding) => times(count, start, applyCleanCheck)
const lookedBack = (start: TrustStanding) => times(10, start, (it) => applyRight(it, 5))
const open = right(25)
const closed = (standing: TrustStanding, kind = 5, unread = nothingUnread) =>
  gateClosed(rules, standing, kind, unread)

test('T11 24 correct actions leave one to go, 25 open the gate, one in two is checked', () => {
  expect(closed(right(24))).toEqual({ cause: 'unproven', toGo: 1 })
  expect(closed(open)).toBeUndefined()
  expect(checkRate(rules, open)).toBe(0.5)
})

test('T11 credit is at most 25', () => {
  expect(right(1000)).toEqual(open)
  expect(cleanChecks(100, open).credit).toBe(25)
})

test('T13 a wrong request is charged only to its kind', () => {
  const kind = applyWrongAsked(
    rules,
    times(10, 0, (it) => applyRightOfKind(it)),
    1,
  )
  expect(kind).toBe(-45)
  expect(closed(right(10), kind)).toEqual({ cause: 'kind_wrong', toGo: 50 })
  expect(closed(open, kind)).toEqual({ cause: 'kind_wrong', toGo: 50 })
  expect(closed(open, 0)).toEqual({ cause: 'kind_new', toGo: 5 })
})

test('T13 the debt of a kind is at most 150, and a deeper one stays', () => {
  expect(times(9, 0, (it) => applyWrongAsked(rules, it, 2.5))).toBe(-150)
  expect(applyWrongAsked(rules, -200, 1)).toBe(-200)
})

test('T11 each autonomous mistake costs twice the previous one, and its look-back gives five per correct action', () => {
  const first = applyWrongAlone(rules, open, 1)
  expect(first).toEqual({ credit: -25, strikes: 1, clean: 0 })
  expect(applyWrongAloneOfKind(5, 1)).toBe(0)
  expect(closed(first, 0)).toEqual({ cause: 'mistake', toGo: 50 })
  const paid = lookedBack(first)
  expect(closed(paid)).toBeUndefined()
  expect(checkRate(rules, paid)).toBe(0.5)

  const second = applyWrongAlone(rules, paid, 1)
  expect(second).toEqual({ credit: -75, strikes: 2, clean: 0 })
  expect(closed(lookedBack(second))).toEqual({ cause: 'mistake', toGo: 50 })

  const debts = []
  for (let it = second; debts.length < 4;) {
    it = applyWrongAlone(rules, right(1000, it), 1)
    debts.push([it.credit, it.strikes])
  }
  expect(debts).toEqual([
    [-175, 3],
    [-375, 4],
    [-775, 4],
    [-775, 4],
  ])
})

test('T11 a critical mistake costs 125, an edge case 13, both a strike; a preference costs nothing', () => {
  expect(applyWrongAlone(rules, open, 2.5)).toEqual({ credit: -100, strikes: 1, clean: 0 })
  expect(applyWrongAlone(rules, open, 0.25)).toEqual({ credit: 12, strikes: 1, clean: 0 })
  expect(applyWrongAlone(rules, open, 0)).toBe(open)
  expect(applyWrongAloneOfKind(5, 0)).toBe(5)
  expect(applyWrongAloneOfKind(-45, 1)).toBe(-45)
})

test('T14 every 15th consecutive clean check removes a strike', () => {
  const two = { credit: 25, strikes: 2, clean: 0 }
  expect(cleanChecks(14, two).strikes).toBe(2)
  expect(checksToForgiveness(cleanChecks(14, two))).toBe(1)
  expect(cleanChecks(15, two)).toEqual({ credit: 25, strikes: 1, clean: 15 })
  expect(cleanChecks(30, two).strikes).toBe(0)
  expect(cleanChecks(60, two).strikes).toBe(0)
})

test('T14 5 clean checks lead to one in ten, 45 to one in 25', () => {
  const rates = [0, 4, 5, 44, 45, 400].map((clean) => checkRate(rules, { ...open, clean }))
  expect(rates).toEqual([0.5, 0.5, 0.1, 0.1, 0.04, 0.04].map((rate) => expect.closeTo(rate, 12)))
  const often = { ...rules, checkRate: 0.5 }
  expect(checkRate(often, open)).toBe(1)
})

test('T14 six unread checks close the gate, or one older than three days', () => {
  expect(closed(open, 5, { count: 5, oldestMs: 3 * day })).toBeUndefined()
  expect(closed(open, 5, { count: 6, oldestMs: 0 })).toEqual({ cause: 'unread', toGo: 0 })
  expect(closed(open, 5, { count: 1, oldestMs: 3 * day + 1 })).toEqual({ cause: 'unread', toGo: 0 })
  expect(closed(right(20), 5, { count: 9, oldestMs: 0 })?.cause).toBe('unproven')
})

test('T14 without spot checks the gate stays closed', () => {
  expect(gateClosed({ ...rules, checkRate: 0 }, open, 5, nothingUnread)?.cause).toBe('unchecked')
})

test('T14 the draw is the same for the same action and spread over 0 to 1', () => {
  const key = Buffer.alloc(32, 7)
  expect(computeDraw(key, 'one')).toBe(computeDraw(key, 'one'))
  expect(computeDraw(key, 'one')).not.toBe(computeDraw(Buffer.alloc(32, 8), 'one'))
  const draws = Array.from({ length: 10_000 }, (_, index) => computeDraw(key, String(index)))
  expect(draws.every((draw) => draw >= 0 && draw < 1)).toBe(true)
  const sampled = draws.filter((draw) => isSampled(rules, { ...open, clean: 5 }, draw)).length
  expect(sampled).toBeGreaterThan(900)
  expect(sampled).toBeLessThan(1100)
})

test('T14 a look-back selects the 5 newest and 5 random actions of the last 50', () => {
  const alone = Array.from({ length: 60 }, (_, index) => index)
  // The draw selects the oldest of the window.
  const chosen = selectLookBack(
    alone,
    alone.map((index) => 1 - index / 100),
  )
  expect(chosen).toEqual([0, 1, 2, 3, 4, 49, 48, 47, 46, 45])
  expect(selectLookBack([1, 2, 3], [0, 0, 0])).toEqual([1, 2, 3])
  expect(selectLookBack([], [])).toEqual([])
})

test('T11 credit and clean checks halve in 17 idle days; debts and strikes stay', () => {
  expect(applyIdleDecay({ credit: 25, strikes: 2, clean: 40 }, 17)).toEqual({
    credit: 12,
    strikes: 2,
    clean: 20,
  })
  expect(applyIdleDecay({ credit: -25, strikes: 1, clean: 0 }, 170)).toEqual({
    credit: -25,
    strikes: 1,
    clean: 0,
  })
  expect(applyIdleDecay(open, 0)).toEqual(open)
})

test('G5 evidence_level shows the missing credit: 0.8 if none is missing', () => {
  expect([0, 5, 25, 50].map(computeEvidenceLevel)).toEqual([0.8, expect.closeTo(0.64, 12), 0, 0])
})

const happening = fc.oneof(
  fc.constant('right'),
  fc.constant('clean'),
  fc.constant('look back'),
  fc.constantFrom(0, 0.25, 0.5, 1, 1.5, 2.5),
  fc.record({ idle: fc.integer({ min: 0, max: 400 }) }),
)

test('T11 a standing keeps its bounds and integers after any events', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 80 }), (happenings) => {
      let standing = newStanding
      let kind = 0
      for (const what of happenings) {
        const before = standing
        if (what === 'right') {
          standing = applyRight(standing)
          kind = applyRightOfKind(kind)
        } else if (what === 'clean') standing = applyCleanCheck(standing)
        else if (what === 'look back') standing = applyRight(standing, 5)
        else if (typeof what === 'number') {
          standing = applyWrongAlone(rules, standing, what)
          kind = applyWrongAsked(rules, kind, what)
          expect(standing.credit).toBeLessThanOrEqual(before.credit)
          expect(standing.strikes).toBeGreaterThanOrEqual(before.strikes)
        } else if (typeof what === 'object') {
          standing = applyIdleDecay(standing, what.idle)
          expect(standing.credit).toBeLessThanOrEqual(before.credit)
        }
        const { credit, strikes, clean } = standing
        expect([credit, strikes, clean, kind].every(Number.isInteger)).toBe(true)
        expect(credit >= -800 && credit <= 25 && strikes >= 0 && strikes <= 4 && clean >= 0).toBe(
          true,
        )
        expect(kind >= -150 && kind <= 5).toBe(true)
      }
    }),
  )
})

test('T11 any autonomous mistake closes the gate, however light', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(0.125, 0.25, 0.375, 0.5, 1, 2.5),
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: 0, max: 60 }),
      (weight, strikes, clean) => {
        const after = applyWrongAlone(rules, { credit: 25, strikes, clean }, weight)
        expect(gateClosed(rules, after, 0, nothingUnread)).toBeDefined()
      },
    ),
  )
})
