import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { configSchema } from '#base/config/index.ts'
import { extractFields } from './fields.ts'
import { createPolicies } from './policy.ts'
import { isVisiblyUnambiguous } from './visible-name.ts'

type RuleInput = { field: string; constraint: string; [key: string]: unknown }

function judged(rules: RuleInput[], change: unknown, field?: string) {
  const policies = createPolicies(configSchema.parse({ policies: [{ id: 'p', rules }] }))
  return policies.evaluate(policies.named('p'), extractFields(change, field))
}

const rules = [
  { field: 'amount', constraint: 'value_range', min: 0, max: 100 },
  { field: 'region', constraint: 'enum', values: ['emea'] },
  { field: 'order.total', constraint: 'value_range', max: 10 },
  { field: 'note', constraint: 'regex', pattern: '^.{0,20}$' },
  { field: 'commission', constraint: 'readonly' },
]

test.each<object>([
  { 'amount.value': 1e9 },
  { '/amount/value': 1e9 },
  { 'amount.$set': 5 },
  { 'amount[0].value': 5 },
  { deal: { 'amount/value': 5 } },
  { amount: 5, 'amount.value': 1e9 },
  { 'amount.value': 1e9, amount: 5 },
  { 'region.code': 'us' },
  { 'order.total.gross': 99 },
  { '/order/total/gross': 99 },
  { order: { 'total.gross': 99 } },
  // Short individually, long together.
  { 'note.a': 'aaaa', 'note.b': 'bbbb', note: { c: 'cccc' } },
  { 'note.a': '<'.repeat(21), note: { a: 'ok' } },
])('M4 Y2 a path key violates the same rule as the nested form: %j', (change) => {
  expect(judged(rules, change).hardStop).toBe(true)
})

test('M4 a field named by its path is checked together with the fields on that path', () => {
  expect(judged(rules, { value: 1e9 }, 'amount.value').hardStop).toBe(true)
  expect(judged(rules, undefined, 'amount.value').hardStop).toBe(false)
})

test.each<object>([
  { 'amount[0]': 5, '/amount/1': 6 },
  { lodash: '4', 'lodash.get': '5' },
  { order: { 'amount ': 5 } },
  { 'src/app.ts': 'x', 'src/main.ts': 'y' },
])('M4 Y2 a path key passes like the nested form: %j', (change) => {
  expect(judged(rules, change)).toMatchObject({ hardStop: false, violations: [] })
})

test.each([
  'commission ',
  '\tcommission',
  'com\u200bmission',
  'commission\u0000',
  'commi\u00adssion',
  '\u2066commission\u2069',
  'ＣOMMISSION',
  'deal. commission',
  '/deal/commission\u3164',
])('M4 invisible characters in a key hide no field: %j', (key) => {
  expect(judged(rules, { [key]: 5 }).hardStop).toBe(true)
  expect(judged(rules, { value: 5 }, key).hardStop).toBe(true)
})

const word = fc.constantFrom('amount', 'region', 'order', 'total', 'note', 'x', '__proto__')
const leaf = fc.constantFrom<unknown[]>(5, 50, 1e9, 'emea', 'us', '<b>', null, true, [], {})
const { nested } = fc.letrec<{ nested: unknown; entries: unknown }>((tie) => ({
  entries: fc.oneof(
    fc
      .uniqueArray(fc.tuple(word, tie('nested')), {
        selector: ([key]) => key,
        minLength: 1,
        maxLength: 3,
      })
      .map((pairs): unknown => Object.fromEntries(pairs)),
    fc.array(tie('nested'), { minLength: 1, maxLength: 2 }),
  ),
  nested: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf, tie('entries'), tie('entries')),
}))
const change = fc.dictionary(word, nested, { minKeys: 1, maxKeys: 3, noNullPrototype: true })
const rule = fc
  .tuple(
    fc.constantFrom('amount', 'order', 'order.total', 'x.*', '*', 'region', 'note', 'order[0]'),
    fc.constantFrom<object[]>(
      { constraint: 'readonly' },
      { constraint: 'high_risk' },
      { constraint: 'value_range', min: 0, max: 100 },
      { constraint: 'enum', values: ['emea', 5, null] },
      { constraint: 'regex', pattern: '^[^<>]*$' },
      { constraint: 'regex', pattern: '^.{0,24}$' },
      { constraint: 'regex', pattern: '^([a-z]+|\\{"x".*)$' },
    ),
  )
  .map(([field, constraint]) => ({ field, ...constraint }) as RuleInput)

type Pick = (most: number) => number

/** The same change with some paths written as keys. */
function spelledOut(value: unknown, pick: Pick): unknown {
  if (Array.isArray(value)) return value.map((item) => spelledOut(item, pick))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(entriesOf(value, pick))
}

function entriesOf(value: object, pick: Pick): [string, unknown][] {
  return Object.entries(value).flatMap(([key, item]: [string, unknown]): [string, unknown][] => {
    const own = ['', '', '', ' ', '\u200b', '/'][pick(6)] + key
    if (typeof item !== 'object' || item === null || Object.keys(item).length === 0)
      return [[own, item]]
    if (pick(3) === 0) return [[own, spelledOut(item, pick)]]
    const isList = Array.isArray(item)
    const parts = Object.entries(item).map(([name, part]: [string, unknown]) => ({
      name,
      part,
      isOut: isList || pick(2) === 0,
    }))
    const kept = parts.filter(({ isOut }) => !isOut).map(({ name, part }) => [name, part] as const)
    const out = parts.filter(({ isOut }) => isOut)
    return [
      ...(kept.length > 0
        ? [[own, spelledOut(Object.fromEntries(kept), pick)] satisfies [string, unknown]]
        : []),
      ...out.flatMap(({ name, part }) =>
        entriesOf(Object.fromEntries([[name, part]]), pick).map(
          ([rest, each]): [string, unknown] => [
            isList && pick(2) === 0
              ? `${own}[${name}]${rest.slice(rest.indexOf(name) + name.length)}`
              : `${own}${'./'[pick(2)]}${rest}`,
            each,
          ],
        ),
      ),
    ]
  })
}

test('M4 Y2 writing paths as keys avoids no violation', () => {
  fc.assert(
    fc.property(
      change,
      fc.array(rule, { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.nat(5)),
      (plain, some, numbers) => {
        const pick: Pick = (most) => Number(numbers.next().value) % most
        const other = spelledOut(plain, pick)
        const before = judged(some, plain)
        const after = judged(some, other)
        expect(after.violations).toEqual(expect.arrayContaining([...before.violations]))
        expect(after.highRisk).toEqual(expect.arrayContaining([...before.highRisk]))
        expect(after.hardStop || !before.hardStop).toBe(true)
      },
    ),
    { numRuns: 500 },
  )
})

test.each([
  ['crm.deals', true],
  ['Büro 7 / EMEA', true],
  ['営業', true],
  ['crm.deals ', false],
  [' crm', false],
  ['\tcrm', false],
  ['crm.dea\u200bls', false],
  ['crm\u00a0deals', false],
  ['crm\u0007', false],
  ['crm\u202e', false],
])('Y1 %j is visibly unambiguous: %s', (name, is) => {
  expect(isVisiblyUnambiguous(name)).toBe(is)
})
