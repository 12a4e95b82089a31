import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  listMarkKinds,
  parseCause,
  buildMarks,
  findNearest,
  nextModeDrop,
  buildChart,
  parsePoint,
  chartRange,
} from './trust-history.ts'
import type { TrustHistory } from './trust-history.ts'

const day = 86_400_000
const now = Date.parse('2026-11-15T12:00:00Z')
const ago = (days: number) => new Date(now - days * day).toISOString()
const thresholds = { suggest: 0.5, act: 0.8 }
const box = { width: 400, height: 100 }
const span = chartRange(30, now)

const history = (part: Partial<TrustHistory> = {}): TrustHistory => ({
  agent_id: 'sales-agent',
  domain: 'crm.deals',
  points: [
    { at: ago(30), score: 0.3, cause: 'before' },
    { at: ago(20), score: 0.32, cause: 'approved' },
    { at: ago(10), score: 0.24, cause: 'agent_wrong' },
  ],
  projection: Array.from({ length: 31 }, (_, ahead) => ({
    at: ago(-ahead),
    score: Math.max(0.1, Math.round((0.24 - ahead / 100) * 100) / 100),
  })),
  thresholds,
  now: { trust_level: 0.24, mode: 'escalate', evidence_level: 0, gated: false },
  ...part,
})

test('C3 the chart has steps up to now and then the projected decay', () => {
  const { steps, decay, nowX, stops } = buildChart(history(), span, box)
  expect(steps).toBe('M0 70H100V68M100 68H200V76M200 76H300V76')
  expect(nowX).toBe(300)
  expect(decay).toMatch(/^M300 76L310 77M310 77L320 78/)
  expect(stops.filter(({ kind }) => kind === 'ahead')).toHaveLength(10)
})

test('C3 T8 past decay is drawn as decay, not as a decision', () => {
  const faded = { trust_level: 0.2, mode: 'escalate', evidence_level: 0, gated: false } as const
  const { steps, decay } = buildChart(history({ now: faded }), span, box)
  expect(steps).toBe('M0 70H100V68M100 68H200V76')
  expect(decay).toMatch(/^M200 76L300 80/)
  const idle = [
    { at: ago(30), score: 0.6, cause: 'before' },
    { at: ago(10), score: 0.42, cause: 'approved' },
  ]
  expect(buildChart(history({ points: idle }), span, box).decay).toMatch(/^M0 40L200 58M200 58/)
})

test('C3 a short history has one step of equal width per decision', () => {
  const just = (seconds: number) => new Date(now - seconds * 1000).toISOString()
  const points: TrustHistory['points'] = [
    { at: just(60), score: 0.3, cause: 'before' },
    { at: just(9), score: 0.32, cause: 'approved' },
    { at: just(8), score: 0.34, cause: 'approved' },
    { at: just(2), score: 0.24, cause: 'agent_wrong' },
  ]
  const young = buildChart(history({ points }), span, box)
  expect(young.isYoung).toBe(true)
  expect(young.steps).toBe('M0 70H75V68M75 68H150V66M150 66H225V76M225 76H300V76')
  const old = buildChart(
    history({ points: [{ at: ago(20), score: 0.3, cause: 'approved' }, ...points.slice(1)] }),
    span,
    box,
  )
  expect(old.isYoung).toBe(false)
  expect(old.stops.slice(1, 4).map(({ x }) => x)).toEqual([300, 300, 300])
  expect(buildChart(history({ points: points.slice(0, 1) }), span, box).isYoung).toBe(false)
})

test('C3 every decision, promotion and demotion has its own mark', () => {
  expect(parseCause('approved')).toEqual({ kind: 'approved', says: 'Approved' })
  expect(parseCause('edge_case')).toEqual({ kind: 'edge_case', says: 'Overridden: edge case' })
  expect(parseCause('set by hand')).toEqual({ kind: 'set', says: 'Set manually' })
  expect(parseCause('approved, promoted')).toEqual({
    kind: 'promoted',
    says: 'Approved, promoted',
  })
  expect(parseCause('agent_wrong, demoted')).toEqual({
    kind: 'demoted',
    says: 'Overridden: the agent is wrong, demoted',
  })
  expect(parseCause('imported').kind).toBe('other')
  const { stops } = buildChart(history(), span, box)
  expect(listMarkKinds(stops)).toEqual(['approved', 'agent_wrong'])
})

test('C3 T14 gate changes have their own mark and name the risk class', () => {
  expect(parsePoint({ cause: 'approved', mark: 'opened', risk: 'normal' })).toEqual({
    kind: 'opened',
    says: 'Approved: gate opened (normal risk)',
  })
  expect(parsePoint({ cause: 'agent_wrong', mark: 'closed', risk: 'low' })).toEqual({
    kind: 'closed',
    says: 'Overridden: the agent is wrong: gate closed (low risk)',
  })
  expect(parsePoint({ cause: 'checked', mark: 'opened', risk: 'high' })).toEqual({
    kind: 'opened',
    says: 'Gate opened (high risk)',
  })
  expect(parsePoint({ cause: 'look-back', mark: 'look_back', risk: 'normal' }).says).toBe(
    'Look-back (normal risk)',
  )
  expect(parsePoint({ cause: 'forgiven', mark: 'forgiven', risk: 'normal' }).kind).toBe('forgiven')
  expect(parsePoint({ cause: 'edge_case' })).toEqual(parseCause('edge_case'))
})

test('C3 T8 a lower score at a look-back is decay', () => {
  const points: TrustHistory['points'] = [
    { at: ago(30), score: 0.9, cause: 'before' },
    { at: ago(10), score: 0.8, cause: 'look-back', mark: 'look_back', risk: 'normal' },
  ]
  const { stops, decay } = buildChart(history({ points }), span, box)
  expect(decay).toMatch(/^M0 10L200 20/)
  expect(listMarkKinds(stops)).toEqual(['look_back'])
})

test('C3 a pointer selects the closest point', () => {
  const { stops } = buildChart(history(), span, box)
  fc.assert(
    fc.property(fc.integer({ min: -50, max: 450 }), (x) => {
      const found = stops[findNearest(stops, x)]
      const closest = Math.min(...stops.map((stop) => Math.abs(stop.x - x)))
      expect(Math.abs((found?.x ?? Infinity) - x)).toBe(closest)
    }),
  )
})

test('C3 the next mode drop by decay is described', () => {
  const at = (trust_level: number) =>
    history({
      now: { trust_level, mode: 'act', evidence_level: 0, gated: false },
      projection: Array.from({ length: 31 }, (_, ahead) => ({
        at: ago(-ahead),
        score: Math.round((trust_level - ahead / 100) * 100) / 100,
      })),
    })
  expect(nextModeDrop(at(0.84), now)).toBe('If idle, trust falls to 0.79 (supervised) in 5 days.')
  expect(nextModeDrop(at(0.8), now)).toBe('If idle, trust falls to 0.79 (supervised) in 1 day.')
  expect(nextModeDrop(at(0.4), now)).toBeUndefined()
  const gated = { ...at(0.84), now: { ...at(0.84).now, gated: true } }
  expect(nextModeDrop(gated, now)).toBeUndefined()
})

test('C3 close approvals share a mark, other decisions never do', () => {
  const points = Array.from({ length: 1000 }, (_, n) => ({
    at: new Date(now - (1000 - n) * 60_000).toISOString(),
    score: 0.9,
    cause: n % 100 === 0 ? 'edge_case' : 'approved',
  }))
  const marks = buildMarks(buildChart(history({ points }), span, box).stops)
  expect(marks.filter(({ kind }) => kind === 'edge_case')).toHaveLength(10)
  // As many as there is room for.
  expect(marks.filter(({ kind }) => kind === 'approved').length).toBeLessThan(box.width / 6)
})

test('C3 T14 a look-back does not cover a simultaneous gate closing', () => {
  const points: TrustHistory['points'] = [
    { at: ago(30), score: 0.9, cause: 'before' },
    { at: ago(10), score: 0.82, cause: 'agent_wrong', mark: 'closed', risk: 'normal' },
    { at: ago(10), score: 0.82, cause: 'look-back', mark: 'look_back', risk: 'normal' },
    { at: ago(5), score: 0.82, cause: 'checked', mark: 'opened', risk: 'normal' },
  ]
  const marks = buildMarks(buildChart(history({ points }), span, box).stops)
  expect(marks.map(({ kind, y }) => `${kind} ${y}`)).toEqual([
    'closed 18',
    'look_back 32',
    'opened 18',
  ])
})
