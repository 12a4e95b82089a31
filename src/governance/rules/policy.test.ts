import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { configSchema } from '#base/config/index.ts'
import { matchesGlob } from '#base/glob.ts'
import { extractFields } from './fields.ts'
import type { Mapping } from './policy.ts'
import { createPolicies } from './policy.ts'

type RuleInput = { field: string; constraint: string; [key: string]: unknown }

/** Evaluates a change with one policy of these rules. */
function judged(rules: RuleInput[], change: unknown, field?: string, mode = 'enforce') {
  const config = configSchema.parse({ policies: [{ id: 'p', rules, mode }] })
  const policies = createPolicies(config)
  return policies.evaluate(policies.named('p'), extractFields(change, field))
}

const mapped = (mappings: [string, string, string][], extra: [string, string, string][] = []) => {
  const of = (list: [string, string, string][]): Mapping[] =>
    list.map(([agent_id, domain, policy_id]) => ({ agent_id, domain, policy_id }))
  const ids = new Set([...mappings, ...extra].map(([, , id]) => id))
  const policies = createPolicies(
    configSchema.parse({ policies: [...ids].map((id) => ({ id })), mappings: of(mappings) }),
  )
  return (agent: string, domain: string) => policies.find(agent, domain, of(extra))?.id
}

test('Y1 two agents can share a policy, and one agent have two in two domains', () => {
  const find = mapped([
    ['sales', 'crm', 'one'],
    ['support', 'crm', 'one'],
    ['sales', 'billing', 'two'],
  ])
  expect([find('sales', 'crm'), find('support', 'crm'), find('sales', 'billing')]).toEqual([
    'one',
    'one',
    'two',
  ])
  expect(find('support', 'billing')).toBeUndefined()
})

test('Y1 an exact agent precedes an exact domain, which precedes the longer literal', () => {
  const find = mapped([
    ['*', '*', 'all'],
    ['sales-*', '*', 'some-agents'],
    ['*', 'crm.*', 'some-domains'],
    ['*', 'crm.deals', 'domain'],
    ['sales-1', '*', 'agent'],
    ['sales-1', 'crm.deals', 'both'],
  ])
  expect(find('sales-1', 'crm.deals')).toBe('both')
  expect(find('sales-1', 'crm.leads')).toBe('agent')
  expect(find('sales-2', 'crm.deals')).toBe('domain')
  expect(find('sales-2', 'crm.leads')).toBe('some-agents')
  expect(find('other', 'crm.leads')).toBe('some-domains')
  expect(find('other', 'files')).toBe('all')
})

test('Y1 approved mappings have the same order, after equal ones of the file', () => {
  const find = mapped(
    [
      ['sales', '*', 'file'],
      ['sales', 'billing', 'file-billing'],
    ],
    [
      ['sales', 'crm', 'person'],
      ['sales', 'billing', 'person'],
    ],
  )
  expect(find('sales', 'crm')).toBe('person')
  expect(find('sales', 'billing')).toBe('file-billing')
  expect(find('sales', 'files')).toBe('file')
})

test('Y1 Y4 an approved mapping covers that agent and domain only: * is not a pattern there', () => {
  const find = mapped(
    [['finance', 'crm', 'file']],
    [
      ['sales', '*', 'person'],
      ['sales', 'note*', 'person'],
      ['fin*', 'zoo', 'person'],
      ['*', '*', 'person'],
    ],
  )
  expect([find('sales', '*'), find('sales', 'note*'), find('fin*', 'zoo')]).toEqual(
    Array(3).fill('person'),
  )
  expect([find('sales', 'payroll'), find('sales', 'notes'), find('finance', 'zoo')]).toEqual(
    Array(3).fill(undefined),
  )
  expect(find('other', 'crm')).toBeUndefined()
})

test('Y1 a mapping to a missing policy gives none instead of a less specific one', () => {
  const policies = createPolicies(
    configSchema.parse({
      policies: [{ id: 'p' }],
      mappings: [{ agent_id: '*', domain: '*', policy_id: 'p' }],
    }),
  )
  const gone = { agent_id: 'sales', domain: 'crm', policy_id: 'gone' }
  expect(policies.find('sales', 'crm', [gone])).toBeUndefined()
  expect(policies.find('sales', 'crm')?.id).toBe('p')
})

test('Y1 the most specific mapping wins in any order', () => {
  const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1, maxLength: 3 })
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 })
  const pair = fc.tuple(glob, glob)
  const orders = fc
    .uniqueArray(pair, { maxLength: 6, selector: String })
    .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })))
  fc.assert(
    fc.property(orders, text, text, ([one, other], agent, domain) => {
      const inputOf = (pairs: [string, string][]) => ({
        policies: pairs.map((each) => ({ id: String(each) })),
        mappings: pairs.map((each) => ({
          agent_id: each[0],
          domain: each[1],
          policy_id: String(each),
        })),
      })
      const parsed = configSchema.safeParse(inputOf(one))
      fc.pre(parsed.success)
      const found = createPolicies(configSchema.parse(inputOf(one))).find(agent, domain)?.id
      expect(createPolicies(configSchema.parse(inputOf(other))).find(agent, domain)?.id).toBe(found)
      const fitting = one.filter((it) => matchesGlob(it[0], agent) && matchesGlob(it[1], domain))
      expect(found === undefined).toBe(fitting.length === 0)
      if (fitting.some(([id]) => id === agent)) expect(found?.split(',')[0]).toBe(agent)
      else if (fitting.some(([, id]) => id === domain)) expect(found?.split(',')[1]).toBe(domain)
    }),
    { numRuns: 500 },
  )
})

test('Y1 isMapped says whether the file maps anything', () => {
  expect(createPolicies(configSchema.parse({})).isMapped).toBe(false)
  const one = {
    policies: [{ id: 'p' }],
    mappings: [{ agent_id: 'a', domain: 'd', policy_id: 'p' }],
  }
  expect(createPolicies(configSchema.parse(one)).isMapped).toBe(true)
})

test('Y6 the version depends only on policies, mappings and authority', () => {
  const versionOf = (input: object) => createPolicies(configSchema.parse(input)).version
  const plain = versionOf({})
  expect(plain).toMatch(/^[\da-f]{16}$/)
  expect(versionOf({ trust: { default_level: 0.5 } })).toBe(plain)
  const others = [
    { policies: [{ id: 'p' }] },
    { policies: [{ id: 'p' }], mappings: [{ agent_id: 'a', domain: 'd', policy_id: 'p' }] },
    { policies: [{ id: 'p', rules: [{ field: 'f', constraint: 'value_range', max: 1 }] }] },
    { authority: { volume_cap: 7 } },
  ].map(versionOf)
  expect(new Set([plain, ...others]).size).toBe(5)
})

test('M3 the default high-risk fields need review with or without a policy', () => {
  const policies = createPolicies(configSchema.parse({}))
  const risky = (change: unknown) => policies.evaluate(undefined, extractFields(change)).highRisk
  expect(risky({ deal_stage: 1, utm_source: 2, note: 3 })).toEqual(['deal_stage', 'utm_source'])
  expect(risky({ BILLING_City: 1 })).toEqual(['BILLING_City'])
  expect(risky({ a: [{ b: { password: 'x' } }] })).toEqual(['a.b.password'])
  expect(risky({ ownership: 1, my_utm_source: 1 })).toEqual([])
})

test('M3 a full glob is accepted', () => {
  const config = configSchema.parse({ authority: { high_risk_fields: ['*_secret*'] } })
  const { highRisk } = createPolicies(config).evaluate(
    undefined,
    extractFields({ a_secret_b: 1, owner: 1 }),
  )
  expect(highRisk).toEqual(['a_secret_b'])
})

test('Y2 touching a readonly field violates the rule, even without a value', () => {
  const rules = [{ field: 'id', constraint: 'readonly', reason: 'Given by the store.' }]
  const violation = { rule_id: 'rule_1', field: 'id', severity: 'hard_stop' }
  expect(judged(rules, undefined, 'id')).toMatchObject({
    hardStop: true,
    violations: [{ ...violation, reason: 'Given by the store.' }],
  })
  expect(judged(rules, { a: { id: 1 } }).violations[0]?.field).toBe('a.id')
  expect(judged(rules, { name: 1 })).toMatchObject({ hardStop: false, violations: [] })
})

const range = { field: 'amount', constraint: 'value_range', min: 0, max: 100 }
const choice = { field: 'stage', constraint: 'enum', values: ['open', 'won', 3, null] }
const form = { field: 'email', constraint: 'regex', pattern: '^[^@]+@example\\.com$' }

test.each<[string, RuleInput, unknown, boolean]>([
  ['a number inside', range, { amount: 100 }, true],
  ['a number outside', range, { amount: 100.01 }, false],
  ['a number below', range, { amount: -1 }, false],
  ['a number as text', range, { amount: '5' }, false],
  ['null', range, { amount: null }, false],
  ['an object around it', range, { amount: { value: 5 } }, false],
  ['a list of numbers inside', range, { amount: [1, [2]] }, true],
  ['a list with one outside', range, { amount: [1, [200]] }, false],
  ['an empty list', range, { amount: [] }, false],
  ['a value of the list', choice, { stage: 'won' }, true],
  ['null when listed', choice, { stage: null }, true],
  ['a value of another type', choice, { stage: '3' }, false],
  ['another value', choice, { stage: 'lost' }, false],
  ['a list of allowed values', choice, { stage: ['open', 'won'] }, true],
  ['an object', choice, { stage: { set: 'won' } }, false],
  ['a text that matches', form, { email: 'a@example.com' }, true],
  ['a text that does not', form, { email: 'a@example.org' }, false],
  ['a number for a text', form, { email: 5 }, false],
  ['half a character', form, { email: { a: '\ud800' } }, false],
])('Y2 %s is evaluated', (_case, rule, change, isAllowed) => {
  const { hardStop, violations } = judged([rule], change)
  expect(hardStop).toBe(!isAllowed)
  expect(violations.length > 0).toBe(!isAllowed)
})

test('Y2 numbers, true and null are matched by their JSON text', () => {
  const digits = { field: 'code', constraint: 'regex', pattern: '^(\\d+|true|null)$' }
  for (const code of [12, true, null]) expect(judged([digits], { code }).hardStop).toBe(false)
  expect(judged([digits], { code: 1.5 }).hardStop).toBe(true)
})

test('Y2 one end of a range is enough', () => {
  expect(
    judged([{ field: 'a', constraint: 'value_range', min: 1 }], { a: 0 }).violations[0]?.reason,
  ).toBe('Must be a number of at least 1.')
  expect(
    judged([{ field: 'a', constraint: 'value_range', max: 1 }], { a: 2 }).violations[0]?.reason,
  ).toBe('Must be a number of at most 1.')
})

test('Y2 a value does not escape its rule under a separate name', () => {
  expect(judged([range], { from: 1, to: 1_000_000 }, 'amount').hardStop).toBe(true)
  expect(judged([range], { 'amount.note': 1, to: 1_000_000 }, 'amount').hardStop).toBe(true)
  expect(judged([range], { value: 5 }, 'amount').hardStop).toBe(false)
  expect(judged([range], { value: 500 }, 'amount').hardStop).toBe(true)
  expect(judged([range], undefined, 'amount').hardStop).toBe(false)
})

test('Y2 a rule with a path applies at any depth and through lists', () => {
  const rules = [{ ...range, field: 'order.amount' }]
  expect(judged(rules, { order: { amount: 500 } }).violations[0]?.field).toBe('order.amount')
  expect(judged(rules, { value: { Order: [{ Amount: 500 }] } }).hardStop).toBe(true)
  expect(judged(rules, { 'order[0].amount': 500 }).hardStop).toBe(true)
  expect(judged(rules, { invoice: { amount: 500 } }).hardStop).toBe(false)
})

test('Y2 the same field of many items is one violation', () => {
  const items = Array.from({ length: 50 }, () => ({ amount: 500 }))
  expect(judged([range], { items }).violations.map(({ field }) => field)).toEqual(['items.amount'])
})

test('Y2 reasons do not contain values, which may be secret', () => {
  const { violations } = judged([{ ...form, field: 'token' }], { token: 'hunter22' })
  expect(JSON.stringify(violations)).not.toContain('hunter22')
})

test('Y2 hostile patterns and values finish fast', () => {
  const long = 'a'.repeat(100_000)
  for (const pattern of ['(a+)+$', '^(a|a?)+$', '(a*)*b', '^((a{0,30}){0,30})$']) {
    const rule = { field: '*', constraint: 'regex', pattern }
    expect(judged([rule], { text: `${long}!` }).hardStop, pattern).toBe(true)
  }
  let nested: unknown = long.repeat(20)
  for (let level = 0; level < 60; level++) nested = level % 2 === 0 ? [nested] : { a: nested }
  const rule = { field: '*', constraint: 'regex', pattern: '^[^<>]*$' }
  expect(judged([rule], nested).rulesMatched).toBe(1)
})

test('Y3 high_risk forces a review, and blocks when it is a hard stop', () => {
  const rule = { id: 'careful', field: 'discount', constraint: 'high_risk' }
  expect(judged([rule], { discount: 5 })).toMatchObject({
    hardStop: false,
    highRisk: ['discount'],
    violations: [{ rule_id: 'careful', field: 'discount', severity: 'warn' }],
  })
  expect(judged([{ ...rule, severity: 'hard_stop' }], { discount: 5 })).toMatchObject({
    hardStop: true,
    highRisk: ['discount'],
  })
})

test('Y3 a rule that only warns does not block and is counted', () => {
  const rules = [
    { ...range, severity: 'warn' },
    { field: 'id', constraint: 'readonly', severity: 'warn' },
    choice,
  ]
  expect(judged(rules, { amount: 500, id: 1, stage: 'open' })).toMatchObject({
    hardStop: false,
    warnings: 2,
    rulesChecked: 3,
    rulesMatched: 3,
    highRisk: [],
  })
  expect(judged(rules, { amount: 500, stage: 'lost' })).toMatchObject({
    hardStop: true,
    warnings: 2,
    rulesMatched: 2,
  })
})

test('A4 the violated rule sets the number of approvers, the maximum of several', () => {
  const two = { ...range, severity: 'warn', approvers: 2 }
  const three = { field: 'discount', constraint: 'high_risk', approvers: 3 }
  expect(judged([two, three], { amount: 5 }).approvers).toBe(1)
  expect(judged([two, three], { amount: 500 }).approvers).toBe(2)
  expect(judged([two, three], { amount: 500, discount: 1 }).approvers).toBe(3)
})

test('Y6 a shadow policy reports violations and enforces nothing', () => {
  const rules = [
    { ...range, approvers: 2 },
    { field: 'discount', constraint: 'high_risk' },
  ]
  expect(
    judged(rules, { amount: 500, discount: 1, owner: 'x' }, undefined, 'shadow'),
  ).toMatchObject({
    violations: [{ field: 'amount' }, { field: 'discount' }],
    hardStop: false,
    highRisk: ['owner'],
    approvers: 1,
    warnings: 2,
  })
})

test('M4 a rule finds its field at any position', () => {
  const wrap = fc.constantFrom<((inner: unknown) => unknown)[]>(
    (inner) => ({ value: inner }),
    (inner) => ({ 'a.b': inner, other: 1 }),
    (inner) => [null, inner],
    (inner) => ({ x: [inner], y: {} }),
  )
  const rule = { field: 'deal.Owner', constraint: 'readonly' }
  const deal = fc.constantFrom<object[]>(
    { deal: { owner: 1 } },
    { DEAL: [{ owner: [] }] },
    { 'deal.owner': null },
    { 'deal[3]': { owner: { id: 1 } } },
  )
  fc.assert(
    fc.property(deal, fc.array(wrap, { maxLength: 8 }), (own, wraps) => {
      const change = wraps.reduce<unknown>((inner, wrapped) => wrapped(inner), own)
      expect(judged([rule], change).hardStop).toBe(true)
    }),
  )
})
