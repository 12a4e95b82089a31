import { risks } from '#approvals'
import type { Risk } from '#approvals'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { configSchema } from '#base/config/index.ts'
import { resolveMode, toModeRules } from './mode.ts'
import type { Change, OverrideType, Proof, Severity, Trust } from './trust.ts'
import {
  computeAccuracy,
  applyApproval,
  applyCleanSpotCheck,
  closedGate,
  applyDecay,
  applyForgiveness,
  applyCleanLookBack,
  initialTrust,
  applyOverride,
  overrideTypes,
  applyClient,
  setScore,
  severities,
  markActive,
  toTrustRules,
} from './trust.ts'

const config = configSchema.parse({})
const rules = toTrustRules(config)
const day = 86_400_000
const start = 1_700_000_000_000

const withScore = (score: number, more: Partial<Trust> = {}): Trust => ({
  ...initialTrust(rules, start),
  score,
  ...more,
})
const approve = (trust: Trust, at = start, risk: Risk = 'normal') =>
  applyApproval(rules, trust, risk, at)
const override = (
  trust: Trust,
  type: OverrideType = 'agent_wrong',
  severity: Severity = 'medium',
  at = start,
) => applyOverride(rules, trust, 'normal', { type, severity }, at)

/** Applies many changes and returns the last. */
function repeated(times: number, trust: Trust, change: (trust: Trust) => Change): Change {
  let last = change(trust)
  for (let time = 1; time < times; time++) last = change(last.trust)
  return last
}

const proven: Proof = { kind: 5, unread: { count: 0, oldestMs: 0 } }
const isOpen = (trust: Trust, risk: Risk = 'normal', own = rules, proof = proven) =>
  closedGate(own, trust, risk, proof) === undefined
const modeNow = (trust: Trust, risk: Risk = 'normal', own = rules) =>
  resolveMode(toModeRules(config), {
    score: trust.score,
    gateOpen: isOpen(trust, risk, own),
    highRisk: false,
  })
const wrongAlone = (trust: Trust, at = start) =>
  applyOverride(rules, trust, 'normal', { type: 'agent_wrong', severity: 'medium' }, at, true).trust

test('T2 a new trust record starts at the default level without evidence', () => {
  expect(initialTrust(rules, start)).toMatchObject({
    score: 0.3,
    approvals: 0,
    overrides: 0,
    streak: 0,
  })
  const own = toTrustRules(configSchema.parse({ trust: { default_level: 0.65 } }))
  expect(initialTrust(own, start).score).toBe(0.65)
  expect(computeAccuracy(initialTrust(rules, start))).toBeNull()
})

test('T3 an approval adds 0.02 up to 1 and resets consecutive overrides', () => {
  const change = approve(withScore(0.4, { streak: 2 }))
  expect(change).toMatchObject({ from: 0.4, to: 0.42, promoted: false, demoted: false })
  expect(change.trust).toMatchObject({ score: 0.42, approvals: 1, streak: 0 })
  expect(approve(withScore(0.99)).to).toBe(1)
})

test('T3 five approvals give 0.10, and 25 raise 0.3 to exactly 0.8', () => {
  const own = { ...rules, promoteAfter: 1000 }
  const step = (trust: Trust) => applyApproval(own, trust, 'normal', start)
  expect(repeated(5, initialTrust(own, start), step).to).toBe(0.4)
  expect(repeated(25, initialTrust(own, start), step).to).toBe(0.8)
})

test.each([
  ['agent_wrong', 'low', 0.04],
  ['agent_wrong', 'medium', 0.08],
  ['agent_wrong', 'high', 0.12],
  ['agent_wrong', 'critical', 0.2],
  ['missing_context', 'low', 0.015],
  ['missing_context', 'critical', 0.075],
  ['edge_case', 'high', 0.03],
  ['human_preference', 'low', 0.005],
  ['human_preference', 'medium', 0.01],
  ['policy_change', 'critical', 0],
] as const)('T4 an override as %s of %s severity costs %d', (type, severity, loss) => {
  const { from, to, trust } = override(withScore(0.6), type, severity)
  expect(from).toBe(0.6)
  expect(to).toBeCloseTo(0.6 - loss, 10)
  expect(trust.score).toBe(to)
})

test('T4 a score never falls below 0', () => {
  expect(override(withScore(0.05), 'agent_wrong', 'critical').to).toBe(0)
})

test('T5 an override increments the streak, except without agent fault', () => {
  const once = override(withScore(0.6))
  expect(once.trust).toMatchObject({ streak: 1, overrides: 1 })
  for (const type of ['policy_change', 'human_preference'] as const) {
    const after = override(once.trust, type).trust
    expect(after).toMatchObject({ streak: 1, overrides: 1 })
    expect(repeated(9, once.trust, (trust) => override(trust, type)).demoted).toBe(false)
    // The streak may be long enough already after a configuration change.
    expect(override(withScore(0.6, { streak: 3 }), type).demoted).toBe(false)
  }
})

test('T6 the third consecutive override demotes by 0.1 once and starts a new streak', () => {
  const two = repeated(2, withScore(0.9), (trust) => override(trust, 'edge_case'))
  expect(two).toMatchObject({ to: 0.86, demoted: false })
  const three = override(two.trust, 'edge_case')
  expect(three).toMatchObject({ from: 0.86, to: 0.74, demoted: true })
  expect(three.trust.streak).toBe(0)
  expect(override(three.trust, 'edge_case')).toMatchObject({ to: 0.72, demoted: false })
  expect(override(withScore(0.11, { streak: 2 }), 'edge_case').to).toBe(0)
})

test('T6 an approval in between resets the streak', () => {
  const two = repeated(2, withScore(0.9), override)
  expect(override(approve(two.trust).trust)).toMatchObject({ demoted: false, trust: { streak: 1 } })
})

test('T7 the twentieth approval promotes to 0.8, once', () => {
  const nineteen = repeated(19, initialTrust(rules, start), approve)
  expect(nineteen).toMatchObject({ to: 0.68, promoted: false })
  const twenty = approve(nineteen.trust)
  expect(twenty).toMatchObject({ from: 0.68, to: 0.8, promoted: true, trust: { promoted: true } })
  const fallen = { ...twenty.trust, score: 0.5 }
  expect(approve(fallen)).toMatchObject({ to: 0.52, promoted: false })
})

test('T7 a promotion never lowers a score', () => {
  expect(approve(withScore(0.9, { approvals: 19 }))).toMatchObject({ to: 0.92, promoted: true })
})

test('T7 below the required rate there is no promotion; preferences and policy changes do not count', () => {
  expect(approve(withScore(0.5, { approvals: 19, overrides: 6 })).promoted).toBe(false)
  expect(approve(withScore(0.5, { approvals: 19, overrides: 5 })).promoted).toBe(true)
  const disliked = repeated(30, withScore(0.9, { approvals: 19 }), (trust) =>
    override(trust, 'human_preference'),
  )
  expect(computeAccuracy(disliked.trust)).toBe(1)
  expect(approve(disliked.trust).promoted).toBe(true)
})

test('T7 after a demotion an agent can be promoted again', () => {
  const demoted = override(withScore(0.85, { approvals: 30, streak: 2, promoted: true }))
  expect(demoted).toMatchObject({ demoted: true, trust: { promoted: false } })
  expect(approve(demoted.trust)).toMatchObject({ promoted: true, to: 0.8 })
})

test('T7 a promotion is subject to T11: it changes the score, not the evidence', () => {
  const { trust } = repeated(20, initialTrust(rules, start), approve)
  expect(trust.score).toBe(0.8)
  expect(modeNow(trust)).toEqual({ mode: 'suggest', gated: true })
})

test('T8 0.8 idle for 10 days is 0.7; whole days count', () => {
  const trust = withScore(0.8)
  const after = (time: number) => applyDecay(rules, trust, start + time).score
  expect(after(10 * day)).toBe(0.7)
  expect(after(10 * day - 1)).toBe(0.71)
  expect(after(day - 1)).toBe(0.8)
  expect(after(1000 * day)).toBe(0.1)
  expect(applyDecay(rules, trust, start + 10 * day).activeAt).toBe(start)
})

test('T8 a score at or below 0.1 stays as it is', () => {
  for (const score of [0, 0.05, 0.1])
    expect(applyDecay(rules, withScore(score), start + 500 * day).score).toBe(score)
})

test('T8 a clock that moves back causes no idle time and is ignored', () => {
  const trust = withScore(0.8)
  expect(applyDecay(rules, trust, start - 90 * day)).toEqual(trust)
  expect(markActive(rules, trust, start - 90 * day).activeAt).toBe(start)
  expect(approve(trust, start - 90 * day)).toMatchObject({ to: 0.82, trust: { activeAt: start } })
})

test('T9 a proposal and an approval store the decayed score and restart the clock', () => {
  const later = start + 10 * day
  expect(markActive(rules, withScore(0.8), later)).toMatchObject({ score: 0.7, activeAt: later })
  expect(approve(withScore(0.8), later)).toMatchObject({
    from: 0.7,
    to: 0.72,
    trust: { score: 0.72, activeAt: later },
  })
})

test('T8 an override does not restart the clock, and decay counts once', () => {
  const later = start + 10 * day
  const change = override(withScore(0.8), 'agent_wrong', 'medium', later)
  expect(change).toMatchObject({ from: 0.7, to: 0.62, trust: { activeAt: start } })
  expect(applyDecay(rules, change.trust, later).score).toBe(0.62)
  expect(applyDecay(rules, change.trust, later + 2 * day).score).toBe(0.6)
})

test('T8 an override of an agent that decayed to the floor still costs', () => {
  const later = start + 100 * day
  const change = override(withScore(0.5), 'agent_wrong', 'low', later)
  expect(change).toMatchObject({ from: 0.1, to: 0.06 })
  expect(applyDecay(rules, change.trust, later).score).toBe(0.06)
})

test('T15 25 clean approvals reach act, 24 do not', () => {
  const all = repeated(24, initialTrust(rules, start), approve)
  expect(modeNow(all.trust)).toEqual({ mode: 'suggest', gated: true })
  expect(modeNow(approve(all.trust).trust)).toEqual({ mode: 'act', gated: false })
})

test('T11 type and severity set the cost of an autonomous mistake; preferences and changed rules cost nothing', () => {
  const { trust } = repeated(25, initialTrust(rules, start), approve)
  const credit = (type: OverrideType, severity: Severity) =>
    applyOverride(rules, trust, 'normal', { type, severity }, start, true).trust.standings.normal
      .credit
  expect(credit('agent_wrong', 'medium')).toBe(-25)
  expect(credit('agent_wrong', 'critical')).toBe(-100)
  expect(credit('missing_context', 'medium')).toBe(6)
  expect(credit('edge_case', 'medium')).toBe(12)
  expect(credit('human_preference', 'critical')).toBe(25)
  expect(credit('policy_change', 'critical')).toBe(25)
})

test('T11 a rejected request costs the class nothing', () => {
  const { trust } = repeated(25, initialTrust(rules, start), approve)
  expect(override(trust, 'agent_wrong', 'critical').trust.standings).toEqual(trust.standings)
})

test('T11 without the gate the score alone decides', () => {
  const fresh = withScore(0.9)
  expect(isOpen(fresh)).toBe(false)
  expect(isOpen(fresh, 'high', { ...rules, gate: false })).toBe(true)
  expect(isOpen(wrongAlone(fresh), 'normal', { ...rules, gate: false })).toBe(true)
})

test('A3 without the gate, too, a score from unverified callers needs correct actions', () => {
  expect(isOpen(withScore(0.9, { claimed: true }), 'normal', { ...rules, gate: false })).toBe(false)
})

test('RS2 T16 only a score of 0.8 or more vouches for an agent', () => {
  const fresh = initialTrust(rules, start)
  expect(isOpen(setScore(rules, fresh, 0.8, start))).toBe(true)
  expect(isOpen(setScore(rules, fresh, 0.79, start))).toBe(false)
  expect(setScore(rules, setScore(rules, fresh, 0.9, start), 0.6, start).vouched).toBe(false)
})

test('RS2 T16 vouching opens low and normal risk, never high risk, and not with a strict gate', () => {
  const vouched = setScore(rules, initialTrust(rules, start), 0.9, start)
  expect(risks.map((risk) => isOpen(vouched, risk))).toEqual([true, true, false])
  expect(isOpen(vouched, 'normal', { ...rules, gate: 'strict' })).toBe(false)
})

test('RS2 T16 vouching ends with the first fault, and when the score falls below 0.8', () => {
  const vouched = setScore(rules, initialTrust(rules, start), 0.95, start)
  expect(override(vouched, 'edge_case', 'low').trust.vouched).toBe(false)
  expect(override(vouched, 'human_preference').trust.vouched).toBe(true)
  const idle = start + 20 * day
  expect(isOpen(applyDecay(rules, vouched, idle))).toBe(false)
  // Vouching does not return with the score.
  const again = repeated(5, markActive(rules, vouched, idle), (trust) => approve(trust, idle))
  expect(again.to).toBeGreaterThanOrEqual(0.8)
  expect(again.trust.vouched).toBe(false)
})

test('RS2 T16 vouching covers no debt, neither of the class nor of the kind', () => {
  const wrong = wrongAlone(repeated(25, initialTrust(rules, start), approve).trust)
  const vouched = setScore(rules, wrong, 0.9, start)
  expect(isOpen(vouched)).toBe(false)
  const fresh = setScore(rules, initialTrust(rules, start), 0.9, start)
  expect(isOpen(fresh, 'normal', rules, { ...proven, kind: 0 })).toBe(true)
  expect(isOpen(fresh, 'normal', rules, { ...proven, kind: -45 })).toBe(false)
  expect(isOpen(fresh, 'normal', rules, { ...proven, unread: { count: 6, oldestMs: 0 } })).toBe(
    false,
  )
})

test('T11 credit decays while an agent is idle, and the gate closes again', () => {
  const { trust } = repeated(30, initialTrust(rules, start), approve)
  expect(isOpen(trust)).toBe(true)
  const idle = applyDecay(rules, trust, start + 17 * day)
  expect(idle.standings.normal.credit).toBe(12)
  expect(isOpen(idle)).toBe(false)
})

test('T11 a review of an idle agent counts in full and decays from then on', () => {
  const { trust } = repeated(25, initialTrust(rules, start), approve)
  const later = start + 34 * day
  const wrong = wrongAlone(trust, later)
  expect(applyDecay(rules, wrong, later).standings.normal.credit).toBe(6 - 50)
  expect(applyDecay(rules, wrong, later + 340 * day).standings.normal.credit).toBe(6 - 50)
  const seen = applyCleanSpotCheck(trust, 'normal', later)
  expect(applyDecay(rules, seen, later).standings.normal).toEqual({
    credit: 11,
    strikes: 0,
    clean: 1,
  })
  expect(applyDecay(rules, seen, later + 17 * day).standings.normal.credit).toBe(5)
})

test('T13 credit is separate per risk class: low-risk credit does not cover risky actions', () => {
  const { trust } = repeated(60, initialTrust(rules, start), (it) => approve(it, start, 'low'))
  expect(trust.score).toBe(1)
  expect(risks.map((risk) => modeNow(trust, risk).mode)).toEqual(['act', 'suggest', 'suggest'])
})

test('T14 a clean check changes the standing and never the score', () => {
  const trust = withScore(0.85, { streak: 1 })
  const after = applyCleanSpotCheck(trust, 'high', start)
  const high = { credit: 5, strikes: 0, clean: 1 }
  expect(after).toEqual({ ...trust, standings: { ...trust.standings, high } })
  expect(applyCleanLookBack(trust, 'high', start).standings.high).toEqual({ ...high, clean: 0 })
})

test('T14 a new client is checked as often as a new agent; credit and strikes stay', () => {
  const known = { ...applyCleanSpotCheck(withScore(0.9), 'normal', start), client: 'claude-code' }
  expect(applyClient(known, 'cursor').standings.normal).toEqual({ credit: 5, strikes: 0, clean: 0 })
  expect(applyClient({ ...known, client: null }, 'cursor').standings).toEqual(known.standings)
})

test('T16 forgiveness clears strikes and debt and keeps earned credit', () => {
  const wrong = wrongAlone(repeated(25, initialTrust(rules, start), approve).trust)
  expect(applyForgiveness(wrong, 'normal', start).standings.normal).toEqual({
    credit: 0,
    strikes: 0,
    clean: 0,
  })
  const paid = repeated(40, wrong, approve).trust
  expect(applyForgiveness(paid, 'normal', start).standings.normal).toMatchObject({
    credit: 15,
    strikes: 0,
  })
})

test('T16 a score set by hand resets the streak and keeps credit and strikes', () => {
  const { trust } = repeated(10, initialTrust(rules, start), approve)
  const set = setScore(rules, { ...trust, streak: 2 }, 0.9, start)
  expect(set).toEqual({ ...trust, score: 0.9, streak: 0, vouched: true })
  expect(setScore(rules, trust, 7, start).score).toBe(1)
  expect(setScore(rules, trust, -1, start).score).toBe(0)
})

test('T16 an idle agent keeps the set score, and its credit continues to decay', () => {
  const { trust } = repeated(20, initialTrust(rules, start), approve)
  const later = start + 34 * day
  const set = setScore(rules, trust, 0.9, later)
  expect(applyDecay(rules, set, later).score).toBe(0.9)
  expect(set.standings).toEqual(applyDecay(rules, trust, later).standings)
})

const risk = fc.constantFrom(...risks)
const happening = fc.oneof(
  fc.record({ act: fc.constantFrom('approve', 'check', 'propose'), risk }),
  fc.record({
    act: fc.constant('override'),
    risk,
    type: fc.constantFrom(...overrideTypes),
    severity: fc.constantFrom(...severities),
  }),
  fc.record({ act: fc.constant('set'), score: fc.double({ min: 0, max: 1, noNaN: true }) }),
)
const history = fc.array(fc.record({ what: happening, days: fc.integer({ min: -3, max: 40 }) }), {
  maxLength: 40,
})
type Happening = {
  act: string
  risk?: Risk
  type?: OverrideType
  severity?: Severity
  score?: number
}

function after(trust: Trust, what: Happening, at: number): Trust {
  const { act, risk: of = 'normal', type = 'agent_wrong', severity = 'medium', score = 0 } = what
  if (act === 'approve') return applyApproval(rules, trust, of, at).trust
  if (act === 'check') return applyCleanSpotCheck(trust, of, at)
  if (act === 'propose') return markActive(rules, trust, at)
  if (act === 'set') return setScore(rules, trust, score, at)
  return applyOverride(rules, trust, of, { type, severity }, at, true).trust
}

test('T1 after any events, scores stay from 0 to 1 with 4 decimals and standings in their bounds', () => {
  fc.assert(
    fc.property(history, (happenings) => {
      let trust = initialTrust(rules, start)
      let at = start
      for (const { what, days } of happenings) {
        at += days * day
        trust = after(trust, what, at)
        for (const { score, standings } of [trust, applyDecay(rules, trust, at)]) {
          expect(score).toBeGreaterThanOrEqual(0)
          expect(score).toBeLessThanOrEqual(1)
          expect(score).toBe(Number(score.toFixed(4)))
          for (const { credit, strikes } of Object.values(standings)) {
            expect(credit >= -800 && credit <= 25).toBe(true)
            expect(strikes >= 0 && strikes <= 4).toBe(true)
          }
        }
      }
    }),
  )
})

test('T1 a change reports the scores before and after it', () => {
  fc.assert(
    fc.property(history, happening, fc.integer({ min: 0, max: 200 }), (happenings, last, days) => {
      let trust = initialTrust(rules, start)
      let at = start
      for (const { what, days: more } of happenings) {
        at += more * day
        trust = after(trust, what, at)
      }
      at += days * day
      const { type = 'agent_wrong', severity = 'medium' } = last as Happening
      const changes = [
        applyApproval(rules, trust, 'low', at),
        applyOverride(rules, trust, 'low', { type, severity }, at),
      ]
      for (const change of changes) {
        expect(change.from).toBe(applyDecay(rules, trust, at).score)
        expect(change.to).toBe(applyDecay(rules, change.trust, at).score)
      }
      expect(changes[0]?.to).toBeGreaterThanOrEqual(changes[0]?.from ?? 1)
      expect(changes[1]?.to).toBeLessThanOrEqual(changes[1]?.from ?? 0)
    }),
  )
})

test('T4 without clamps, demotion and promotion, the order of decisions does not matter', () => {
  const calm = { ...rules, promoteAfter: 1000, demoteAfter: 1000 }
  const kind = fc.record({
    type: fc.constantFrom(...overrideTypes),
    severity: fc.constantFrom('low', 'medium', 'high'),
  })
  const decision = fc.oneof(fc.constant('approve' as const), kind)
  const orders = fc
    .array(decision, { maxLength: 4 })
    .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })))
  const end = (decisions: readonly ('approve' | { type: OverrideType; severity: Severity })[]) =>
    decisions.reduce(
      (trust, each) =>
        each === 'approve'
          ? applyApproval(calm, trust, 'normal', start).trust
          : applyOverride(calm, trust, 'normal', each, start).trust,
      withScore(0.5),
    )
  fc.assert(
    fc.property(orders, ([one, other]) => {
      const [a, b] = [end(one), end(other)]
      expect(a.score).toBe(b.score)
      expect([a.approvals, a.overrides]).toEqual([b.approvals, b.overrides])
      expect(a.standings).toEqual(b.standings)
    }),
  )
})
