import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { begun, createRecord, day, hour, minute } from '../../../test/recorded.ts'
import { changedFields, computeQuality, findRetries, collaborationScore } from './quality.ts'
import type { FieldsByProposal } from './quality.ts'
import type { Scope } from './report.ts'
import { overrideTypes, severities } from '../rules/trust.ts'

type Record = ReturnType<typeof createRecord>

const month: Scope = { period: { start: begun, end: begun + 30 * day } }
const quality = (
  record: Record,
  scope: Partial<Scope> = {},
  fields: FieldsByProposal = new Map(),
) => computeQuality(record.history(), { ...month, ...scope }, fields)

describe('what people decide', () => {
  test('Q1 without decisions there are no rates', () => {
    expect(quality(createRecord())).toEqual({
      n_reviewed: 0,
      approval_rate: null,
      approval_interval: null,
      accuracy: null,
      override_rate: null,
      overrides: [],
      weighted_override: null,
      autonomous: 0,
      escape_rate: null,
      slips_per_100: null,
      checks_drawn: 0,
      alone_error_rate: null,
      alone_error_interval: null,
      checks_within_day: null,
      automation_rate: null,
      review_load: null,
      retry_rate: null,
      rollback_rate: null,
      latency_p50: null,
      latency_p95: null,
      handoff_latency_p50: null,
      handoff_latency_p95: null,
      confidence_avg: null,
      brier: null,
      ece: null,
      rubber_stamp_share: null,
      collaboration_score: null,
    })
  })

  /** Eight approved; one overridden as wrong, one as a preference. */
  function ten() {
    const record = createRecord()
    for (let n = 0; n < 10; n++) record.asked(`p${n}`, { data: { confidence: 0.8 } })
    for (let n = 0; n < 8; n++) record.approved(`p${n}`)
    record.rejected('p8', 'agent_wrong', 'high')
    record.rejected('p9', 'human_preference', 'low')
    return record
  }

  test('Q1 T5 accuracy excludes preferences from the rates of approval and override', () => {
    expect(quality(ten())).toMatchObject({
      n_reviewed: 10,
      approval_rate: 0.8,
      approval_interval: { low: 0.4902, high: 0.9433 },
      // 8 / (8 + 1)
      accuracy: 0.8889,
      override_rate: 0.2,
      overrides: [
        { override_type: 'agent_wrong', severity: 'high', count: 1, rate: 0.1 },
        { override_type: 'human_preference', severity: 'low', count: 1, rate: 0.1 },
      ],
      // (1.5 + 0.125 · 0.5) / 10
      weighted_override: 0.1563,
    })
  })

  test('Q1 confidence is compared with right and wrong, not with preferences', () => {
    expect(quality(ten())).toMatchObject({
      confidence_avg: 0.8,
      // (8 · 0.2² + 0.8²) / 9 and |0.8 − 8/9|
      brier: 0.1067,
      ece: 0.0889,
    })
  })

  test('Q1 calls count as reviewed; a call that is refused is neither approved nor overridden', () => {
    const record = ten()
    record.asked('c', { kind: 'call' })
    record.rejected('c', undefined, undefined, { kind: 'call' })
    expect(quality(record)).toMatchObject({ n_reviewed: 11, override_rate: 0.1818, brier: 0.1067 })
  })

  test('Q1 an undecided request is not reviewed', () => {
    const record = createRecord()
    record.asked('a')
    record.expired('a')
    record.asked('b')
    record.withdrawn('b')
    record.asked('c', { data: { auto: true } })
    record.asked('d', { kind: 'permission' })
    record.approved('d', { kind: 'permission' })
    expect(quality(record).n_reviewed).toBe(0)
  })
})

describe('autonomous actions', () => {
  /** Six autonomous actions, two of them calls; four requests, three of them decided; a spot check. */
  function tenActs() {
    const record = createRecord()
    for (let n = 0; n < 4; n++) record.asked(`a${n}`, { data: { auto: true } })
    record.acted()
    record.acted()
    for (let n = 0; n < 4; n++) record.asked(`w${n}`)
    for (let n = 0; n < 3; n++) record.approved(`w${n}`)
    record.asked('s', { kind: 'spot_check' })
    return record
  }

  test('Q1 automation is the share decided by trust, review load the reviews per 100 actions', () => {
    const record = tenActs()
    record.approved('s', { kind: 'spot_check' })
    expect(quality(record)).toMatchObject({
      autonomous: 6,
      automation_rate: 0.6,
      review_load: 40,
      escape_rate: 0,
    })
  })

  test('Q1 a spot check or an override of an autonomous action finds an escape', () => {
    const record = tenActs()
    record.rejected('s', 'agent_wrong', 'medium', { kind: 'spot_check' })
    record.corrected('missing_context', 'a0')
    record.corrected('edge_case')
    // Not the agent's fault, and one that a person had approved.
    record.corrected('policy_change', 'a1')
    record.corrected('agent_wrong', 'w0')
    expect(quality(record)).toMatchObject({
      escape_rate: 0.5,
      // a0, a1 and w0, of six alone and three approved.
      rollback_rate: 0.3333,
      override_rate: 0,
    })
  })

  test('RC2 Q1 escapes without a known autonomous action give no rate', () => {
    const record = createRecord()
    record.corrected('agent_wrong')
    record.corrected('agent_wrong')
    expect(quality(record).escape_rate).toBeNull()
  })
})

describe('time', () => {
  test('Q1 latencies are seconds from request to decision, separate for handoffs', () => {
    const record = createRecord()
    for (let n = 1; n <= 20; n++) {
      record.asked(`p${n}`, { at: begun })
      record.asked(`h${n}`, { at: begun, kind: 'handoff' })
    }
    for (let n = 1; n <= 20; n++) {
      record.approved(`p${n}`, { at: begun + n * minute })
      record.approved(`h${n}`, { at: begun + n * hour, kind: 'handoff' })
    }
    expect(quality(record)).toMatchObject({
      latency_p50: 10 * 60,
      latency_p95: 19 * 60,
      handoff_latency_p50: 10 * 3600,
      handoff_latency_p95: 19 * 3600,
    })
  })

  test('Q1 rubber stamps are approvals within three seconds', () => {
    const record = createRecord()
    const times = Array.from({ length: 5 }, () => [100, 2999, 3000, 60_000]).flat()
    for (const [n, ms] of times.entries()) {
      // RC2: fewer than 20 approvals are not significant.
      expect(quality(record).rubber_stamp_share).toBeNull()
      record.asked(`p${n}`)
      record.pass(ms)
      record.approved(`p${n}`)
    }
    expect(quality(record).rubber_stamp_share).toBe(0.5)
  })

  test('Q1 only the requested period, agent and domain count', () => {
    const record = createRecord()
    const decided = (id: string, more: object) => {
      record.asked(id, more)
      record.approved(id, more)
    }
    decided('a', {})
    decided('b', { agent: 'support' })
    decided('c', { domain: 'mail' })
    decided('d', { at: begun + 30 * day })
    expect(quality(record).n_reviewed).toBe(3)
    expect(quality(record, { agent: 'sales' }).n_reviewed).toBe(2)
    expect(quality(record, { agent: 'sales', domain: 'mail' }).n_reviewed).toBe(1)
    const later = { period: { start: begun + 30 * day, end: begun + 31 * day } }
    expect(quality(record, later).n_reviewed).toBe(1)
  })
})

describe('retries', () => {
  /** Four overridden proposals; all but the last were retried in some way. */
  function tries() {
    const record = createRecord()
    for (const id of ['same', 'late', 'elsewhere', 'left']) {
      record.asked(id, { target: id })
      record.rejected(id, 'agent_wrong', 'medium', { target: id })
    }
    record.asked('same-2', { target: 'same', at: begun + day })
    record.asked('elsewhere-2', { target: 'elsewhere', domain: 'mail' })
    record.asked('left-2', { target: 'left', agent: 'support' })
    record.asked('late-2', { target: 'late', at: begun + day + 1 })
    return record
  }
  const note = new Map(
    ['same', 'same-2', 'late', 'late-2', 'elsewhere', 'elsewhere-2'].map((id) => [id, ['note']]),
  )

  test('Q1 a retry has the same agent, domain, target and field within a day of the override', () => {
    expect(quality(tries(), {}, note).retry_rate).toBe(0.25)
    const other = new Map([...note, ['same-2', ['stage']]])
    expect(quality(tries(), {}, other).retry_rate).toBe(0)
    const more = new Map([...note, ['same-2', ['stage', 'note']]])
    expect(quality(tries(), {}, more).retry_rate).toBe(0.25)
  })

  test('Q1 a proposal before the override is not a retry', () => {
    const record = createRecord()
    record.asked('first')
    record.asked('second')
    record.pass(minute)
    record.rejected('first', 'agent_wrong')
    const [retry] = findRetries([...record.history().requests.values()], month)
    expect(retry?.[1]).toEqual([])
  })

  test.each([
    [{ stage: 'won', owner: { id: 7 } }, undefined, ['stage', 'owner.id']],
    [{ value: 'won' }, 'stage', ['stage']],
    [{ 'owner.id': 7 }, undefined, ['owner.id']],
    [{ raw: 'won' }, undefined, ['raw']],
    [{ tags: ['a'] }, undefined, ['tags.0']],
  ])('Q1 the fields of %j with %s are %j', (change, field, fields) => {
    expect(changedFields(change, field)).toEqual(fields)
  })
})

describe('the score', () => {
  test('Q2 it weights overrides, latency, calibration and escapes', () => {
    const best = { weightedOverride: 0, p95Ms: 0, ece: 0, escape: 0 }
    expect(collaborationScore(best)).toBe(100)
    expect(collaborationScore({ ...best, weightedOverride: 1 })).toBeCloseTo(65, 10)
    expect(collaborationScore({ ...best, p95Ms: 2 * hour })).toBeCloseTo(87.5, 10)
    expect(collaborationScore({ ...best, p95Ms: 9 * hour })).toBeCloseTo(75, 10)
    expect(collaborationScore({ ...best, ece: 0.5 })).toBeCloseTo(90, 10)
    expect(collaborationScore({ ...best, escape: 0.25 })).toBeCloseTo(95, 10)
    const worst = { weightedOverride: 1, p95Ms: 4 * hour, ece: 1, escape: 1 }
    expect(collaborationScore(worst)).toBeCloseTo(0, 10)
  })

  const reviewed = (count: number) => {
    const record = createRecord()
    for (let n = 0; n < count; n++) {
      record.asked(`p${n}`, { at: begun, data: { confidence: 1 } })
      record.asked(`a${n}`, { data: { auto: true } })
    }
    for (let n = 0; n < count; n++)
      if (n === 0) record.rejected('p0', 'agent_wrong', 'medium', { at: begun + hour })
      else record.approved(`p${n}`)
    record.corrected('agent_wrong', 'a0')
    return record
  }

  test('Q2 it is null with fewer than twenty reviews', () => {
    expect(quality(reviewed(19)).collaboration_score).toBeNull()
    // 1 of 20 wrong, an hour each, 19 of 20 right at confidence 1, 1 of 20 escaped:
    // 100 · (0.35 · 0.95 + 0.25 · 0.75 + 0.2 · 0.95 + 0.2 · 0.95)
    expect(quality(reviewed(20)).collaboration_score).toBe(90)
  })

  test('Q1 Q2 every metric stays in its bounds for any decisions', () => {
    const override = fc.constantFrom(...overrideTypes)
    const severity = fc.constantFrom(...severities)
    const confidence = fc.double({ min: 0, max: 1, noNaN: true })
    const act = fc.record({
      what: fc.constantFrom('approve', 'reject', 'alone', 'correct', 'check', 'leave'),
      override,
      severity,
      confidence,
      ms: fc.nat(hour),
    })
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        const record = createRecord()
        for (const [
          n,
          { what, override: type, severity: grade, confidence: sure, ms },
        ] of acts.entries()) {
          const id = `p${n}`
          if (what === 'check') record.asked(id, { kind: 'spot_check' })
          else if (what !== 'correct')
            record.asked(id, { data: { confidence: sure, auto: what === 'alone' } })
          record.pass(ms)
          if (what === 'approve') record.approved(id)
          else if (what === 'reject') record.rejected(id, type, grade)
          else if (what === 'check') record.rejected(id, type, grade, { kind: 'spot_check' })
          else if (what === 'correct') record.corrected(type)
        }
        const all = { period: { start: begun, end: record.now() + 1 } }
        const {
          n_reviewed: n,
          overrides,
          approval_interval: interval,
          alone_error_interval: wrongWithin,
          checks_drawn: drawn,
          slips_per_100: slips,
          ...rest
        } = quality(record, all)
        const { collaboration_score: score, review_load: load, autonomous, ...rates } = rest
        const {
          latency_p50,
          latency_p95,
          handoff_latency_p50: _,
          handoff_latency_p95: __,
          ...shares
        } = rates
        for (const [name, value] of Object.entries(shares)) {
          expect(value ?? 0, name).toBeGreaterThanOrEqual(0)
          expect(value ?? 0, name).toBeLessThanOrEqual(1)
        }
        expect(score === null).toBe(n < 20)
        expect(score ?? 0).toBeGreaterThanOrEqual(0)
        expect(score ?? 0).toBeLessThanOrEqual(100)
        expect(load ?? 0).toBeGreaterThanOrEqual(0)
        expect(slips ?? 0).toBeGreaterThanOrEqual(0)
        expect(wrongWithin === null).toBe(drawn === 0)
        expect(wrongWithin?.low ?? 0).toBeLessThanOrEqual(rates.alone_error_rate ?? 0)
        expect(wrongWithin?.high ?? 1).toBeGreaterThanOrEqual(rates.alone_error_rate ?? 0)
        expect(autonomous).toBe(acts.filter(({ what }) => what === 'alone').length)
        expect(latency_p95 ?? 0).toBeGreaterThanOrEqual(latency_p50 ?? 0)
        expect(interval?.low ?? 0).toBeLessThanOrEqual(rates.approval_rate ?? 0)
        expect(interval?.high ?? 1).toBeGreaterThanOrEqual(rates.approval_rate ?? 0)
        expect(overrides.reduce((sum, { count }) => sum + count, 0)).toBe(
          acts.filter(({ what }) => what === 'reject').length,
        )
      }),
    )
  })
})

describe('checks of autonomous actions', () => {
  const check = (more: { opened: number; back?: true; unread?: true }) => ({
    kind: 'spot_check',
    data: {
      opened_at: more.opened,
      ...(more.back && { from_look_back: true }),
      ...(more.unread && { counted: false }),
    },
  })

  /** A hundred autonomous actions; five random checks, one of them wrong, and a look-back with another mistake. */
  function hundred() {
    const record = createRecord()
    for (let n = 0; n < 100; n++) record.acted()
    for (let n = 0; n < 3; n++) record.approved(`c${n}`, check({ opened: begun }))
    record.rejected('c3', 'human_preference', 'low', check({ opened: begun }))
    record.rejected('c4', 'agent_wrong', 'medium', check({ opened: begun }))
    record.approved('l0', check({ opened: begun, back: true }))
    record.rejected('l1', 'agent_wrong', 'medium', check({ opened: begun, back: true }))
    return record
  }

  test('Q1 T14 the error rate counts only random checks, slips count every mistake found', () => {
    expect(quality(hundred())).toMatchObject({
      slips_per_100: 2,
      checks_drawn: 5,
      alone_error_rate: 0.2,
      alone_error_interval: { low: 0.0362, high: 0.6245 },
    })
  })

  test('Q1 T14 a check closed unread does not count for the error rate', () => {
    const record = hundred()
    record.approved('c5', check({ opened: begun, unread: true }))
    expect(quality(record)).toMatchObject({ checks_drawn: 5, alone_error_rate: 0.2 })
  })

  test('Q1 T14 the share of checks read within a day includes unread ones', () => {
    const record = createRecord()
    record.pass(3 * day)
    record.approved('c0', check({ opened: record.now() - hour }))
    record.approved('c1', check({ opened: record.now() - 2 * day }))
    record.approved('c2', check({ opened: record.now(), unread: true }))
    const scope = { period: { start: begun, end: begun + 4 * day } }
    expect(quality(record, scope)).toMatchObject({ checks_within_day: 0.3333 })
    const open = [
      { agent: 'sales', domain: 'crm', openedAt: begun + day },
      { agent: 'sales', domain: 'crm', openedAt: begun + 4 * day - hour },
      { agent: 'sales', domain: 'crm', openedAt: begun - hour },
    ]
    const counted = computeQuality(record.history(), { ...month, ...scope }, new Map(), open)
    expect(counted.checks_within_day).toBe(0.25)
  })
})
