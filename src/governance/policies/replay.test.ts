import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { configSchema } from '#base/config/index.ts'
import { createEntryLookup } from '#ledger'
import { extractFields } from '../rules/fields.ts'
import { outcomeForRules } from '../rules/mode-decision.ts'
import { toModeRules } from '../rules/mode.ts'
import { createPolicies } from '../rules/policy.ts'
import { createReasonings } from './policy-assessment.ts'
import { createReplay, replayOutcome, formatReplaySummary } from './replay.ts'
import type { CandidatePolicy, RecordedCall } from './replay.ts'

const day = 24 * 60 * 60 * 1000

function candidateOf(input: object): CandidatePolicy {
  const config = configSchema.parse(input)
  return {
    policies: createPolicies(config),
    extra: [],
    rules: toModeRules(config),
    reasonings: createReasonings(config.reasoning_schemas, createEntryLookup('sqlite'), []),
  }
}

const recorded = (more: Partial<RecordedCall> = {}): RecordedCall => ({
  kind: 'proposal',
  agent: 'sales',
  domain: 'crm',
  action: 'update_deal',
  change: { note: 'x' },
  at: 0,
  outcome: 'act',
  trustLevel: 0.9,
  gateOpen: true,
  floor: 'act',
  unverified: [],
  ...more,
})

const under = (rules: object[], more: object = {}) =>
  candidateOf({
    policies: [{ id: 'p', rules, ...more }],
    mappings: [{ agent_id: '*', domain: '*', policy_id: 'p' }],
  })

function replayOf(candidate: CandidatePolicy, all: readonly RecordedCall[]) {
  const replay = createReplay(candidate)
  for (const one of all) replay.add(one)
  return replay.result()
}

describe('replay of one record', () => {
  test.each([
    ['nothing forbids it', {}, [], 'act'],
    ['trust was low then', { trustLevel: 0.4 }, [], 'escalate'],
    ['evidence was lacking then', { gateOpen: false }, [], 'suggest'],
    ['a rule forbids it now', {}, [{ field: 'note', constraint: 'readonly' }], 'blocked'],
    ['it is high risk now', {}, [{ field: 'note', constraint: 'high_risk' }], 'suggest'],
    [
      'two people must agree now',
      {},
      [{ field: 'note', constraint: 'enum', values: ['y'], severity: 'warn', approvers: 2 }],
      'suggest',
    ],
    [
      'other thresholds held then',
      { trustLevel: 0.9, thresholds: { suggest: 0.95, act: 0.99 } },
      [],
      'escalate',
    ],
  ] as const)('Y6 with the trust of that time: %s', (_, more, rules, outcome) => {
    expect(replayOutcome(under([...rules]), recorded(more))).toBe(outcome)
  })

  test('Y6 without a mapping a proposal is blocked and a call has its defaults', () => {
    const elsewhere = candidateOf({
      policies: [{ id: 'p' }],
      mappings: [{ agent_id: '*', domain: 'erp', policy_id: 'p' }],
    })
    const call = { isRead: false, byTrust: true, isPermitted: false }
    expect(replayOutcome(elsewhere, recorded())).toBe('blocked')
    expect(replayOutcome(elsewhere, recorded({ kind: 'call', call }))).toBe('act')
    const extra = [{ agent_id: 'sales', domain: 'crm', policy_id: 'p' }]
    expect(replayOutcome({ ...elsewhere, extra }, recorded())).toBe('act')
  })

  test.each([
    ['a read may be of anything high risk', 'high_risk', { isRead: true }, 'act'],
    ['a read of what is read-only', 'readonly', { isRead: true }, 'act'],
    ['a write by trust', 'high_risk', { byTrust: true }, 'suggest'],
    ['a write nobody had a say in', 'readonly', {}, 'blocked'],
    ['what was permitted', 'high_risk', { isPermitted: true }, 'act'],
    ['what was permitted and is forbidden now', 'readonly', { isPermitted: true }, 'blocked'],
  ] as const)('Y6 Y7 a call on record: %s', (_, constraint, more, outcome) => {
    const call = { isRead: false, byTrust: false, isPermitted: false, ...more }
    expect(
      replayOutcome(under([{ field: 'note', constraint }]), recorded({ kind: 'call', call })),
    ).toBe(outcome)
  })

  test('Y6 Y7 if trust would decide and none is recorded, there is no outcome', () => {
    const named = candidateOf({
      policies: [{ id: 'p' }],
      mappings: [{ agent_id: '*', domain: 'files', policy_id: 'p' }],
    })
    const call = { isRead: false, byTrust: false, isPermitted: false }
    const written = recorded({ kind: 'call', domain: 'files', call, trustLevel: undefined })
    expect(replayOutcome(named, written)).toBeUndefined()
    expect(replayOutcome(named, { ...written, call: { ...call, isRead: true } })).toBe('act')
    expect(replayOf(named, [written])).toEqual({
      replayed: 0,
      unchanged: 0,
      skipped: 1,
      changes: [],
    })
  })

  test('Y6 R1 reasoning is assessed again as of its time', () => {
    const asking = candidateOf({
      policies: [{ id: 'p', reasoning_schema: 'r' }],
      mappings: [{ agent_id: '*', domain: '*', policy_id: 'p' }],
      reasoning_schemas: [{ id: 'r', required: ['budget'], max_age: '1d', on_fail: 'escalate' }],
    })
    const at = 1000 * day
    const given = (age: number) => ({ criteria: { budget: { value: 1, timestamp: at - age } } })
    const judgedAgain = (more: Partial<RecordedCall>) =>
      replayOutcome(asking, recorded({ at, ...more }))
    expect(judgedAgain({})).toBe('escalate')
    expect(judgedAgain({ reasoning: given(day / 2) })).toBe('act')
    expect(judgedAgain({ reasoning: given(2 * day) })).toBe('escalate')
    expect(judgedAgain({ reasoning: given(0), unverified: ['ledger:1'] })).toBe('escalate')
  })

  test('Y6 a record too deep to check is skipped', () => {
    let change: unknown = {}
    for (let depth = 0; depth < 100; depth++) change = { change }
    expect(replayOutcome(under([]), recorded({ change }))).toBeUndefined()
  })
})

const value = fc.oneof(fc.integer({ min: -10, max: 10 }), fc.constantFrom('a', 'b', 'c'))
const field = fc.constantFrom('amount', 'region', 'owner', 'deal_stage', 'note')
const rule = fc.oneof(
  fc.record({ field, constraint: fc.constantFrom('high_risk', 'readonly') }),
  fc.record({ field, constraint: fc.constant('enum'), values: fc.array(value, { minLength: 1 }) }),
  fc.record({ field, constraint: fc.constant('value_range'), min: fc.integer({ max: 5 }) }),
)
const rulesOf = fc.array(rule, { maxLength: 4 })
/** A month of proposals in three domains. */
const month = fc.array(
  fc.record({
    agent: fc.constantFrom('sales', 'support'),
    domain: fc.constantFrom('crm', 'erp', 'mail'),
    change: fc.dictionary(field, value, { minKeys: 1, maxKeys: 3 }),
    at: fc.integer({ min: 0, max: 30 * day }),
    trustLevel: fc.double({ min: 0, max: 1, noNaN: true }),
    gateOpen: fc.boolean(),
  }),
  { maxLength: 60 },
)

describe('replay of a month', () => {
  const setOf = (rules: object[]) =>
    candidateOf({
      policies: [{ id: 'p', rules }],
      mappings: [
        { agent_id: '*', domain: 'crm', policy_id: 'p' },
        { agent_id: 'sales', domain: 'erp', policy_id: 'p' },
      ],
    })
  /** Records the outcome under these rules, with the function that decides. */
  function lived(
    candidate: CandidatePolicy,
    given: Omit<RecordedCall, keyof typeof plain>,
  ): RecordedCall {
    const one: RecordedCall = { ...plain, ...given }
    const { policies, rules } = candidate
    const policy = policies.find(one.agent, one.domain)
    if (!policy) return { ...one, outcome: 'blocked' }
    const standing = { score: one.trustLevel ?? 0, gateOpen: one.gateOpen, floor: 'act' as const }
    const effect = policies.evaluate(policy, extractFields(one.change))
    return { ...one, outcome: outcomeForRules(rules, standing, effect) }
  }
  const plain = {
    kind: 'proposal' as const,
    action: 'update',
    outcome: 'act' as const,
    floor: 'act' as const,
    unverified: [],
  }

  test('Y6 the original rules change no outcome', () => {
    fc.assert(
      fc.property(rulesOf, month, (rules, given) => {
        const candidate = setOf(rules)
        const all = given.map((one) => lived(candidate, one))
        const result = replayOf(candidate, all)
        expect(result).toEqual({
          replayed: all.length,
          unchanged: all.length,
          skipped: 0,
          changes: [],
        })
        expect(formatReplaySummary(result)).toBe('nothing would change')
      }),
    )
  })

  test('Y6 other rules give the same table in any order, counting every record', () => {
    fc.assert(
      fc.property(rulesOf, rulesOf, month, (old, young, given) => {
        const [before, after] = [setOf(old), setOf(young)]
        const all = given.map((one) => lived(before, one))
        const result = replayOf(after, all)
        expect(replayOf(setOf(young), all)).toEqual(result)
        const counts = ({ changes }: typeof result) =>
          changes.map(({ from, to, count }) => ({ from, to, count }))
        expect(counts(replayOf(after, all.toReversed()))).toEqual(counts(result))
        const changed = counts(result).reduce((sum, { count }) => sum + count, 0)
        expect(changed + result.unchanged).toBe(all.length)
        for (const { from, to, count, examples } of result.changes) {
          expect(from).not.toBe(to)
          expect(examples).toHaveLength(Math.min(3, count))
          for (const one of examples) {
            expect(one.outcome).toBe(from)
            // The simulated outcome equals the real decision.
            expect(lived(after, one).outcome).toBe(to)
          }
        }
      }),
    )
  })

  test('Y6 the summary is one line, most frequent first', () => {
    const all = [
      ...Array.from({ length: 14 }, () => recorded()),
      ...Array.from({ length: 2 }, () => recorded({ outcome: 'suggest', change: { id: 1 } })),
    ]
    const rules = [
      { field: 'note', constraint: 'high_risk' },
      { field: 'id', constraint: 'readonly' },
    ]
    expect(formatReplaySummary(replayOf(under(rules), all))).toBe(
      '14 act→suggest, 2 suggest→blocked',
    )
  })
})
