import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { configSchema } from '#base/config/index.ts'
import { extractFields } from './fields.ts'
import { createPolicies } from './policy.ts'

const rules = [
  { id: 'stage', field: 'deal.stage', constraint: 'readonly' },
  { id: 'discount', field: 'discount', constraint: 'value_range', min: 0, max: 20 },
  { id: 'region', field: 'region', constraint: 'enum', values: ['emea', 'apac'] },
]
const soft = [{ id: 'price', field: 'price', constraint: 'high_risk' }]

function judged(change: unknown, { of = rules, field }: { of?: object[]; field?: string } = {}) {
  const policies = createPolicies(configSchema.parse({ policies: [{ id: 'p', rules: of }] }))
  return policies.evaluate(policies.named('p'), extractFields(change, field))
}

const brokenBy = (change: unknown) => judged(change).violations.map(({ rule_id }) => rule_id)

describe('encodings', () => {
  test.each<[unknown, string]>([
    [[{ op: 'replace', path: '/deal/stage', value: 'won' }], 'stage'],
    [{ patch: [{ op: 'add', path: '/discount', value: 90 }] }, 'discount'],
    [[{ op: 'remove', path: '/deal/stage' }], 'stage'],
    [[{ op: 'move', from: '/draft', path: '/region' }], 'region'],
    [[{ op: 'copy', from: '/deal/draft', path: '/deal/stage' }], 'stage'],
    [{ deal: { stage: null } }, 'stage'],
    [{ field: 'deal.stage', new_value: 'won' }, 'stage'],
    [{ fieldName: 'discount', newValue: 90 }, 'discount'],
    [{ changes: [{ name: 'region', value: 'mars' }] }, 'region'],
    [[{ column: 'discount', to: 90 }], 'discount'],
    [{ property: 'discount', note: 'unusual', becoming: 90 }, 'discount'],
    [{ updates: [['discount', 90]] }, 'discount'],
    [{ columns: ['region', 'discount'], rows: [['emea', 90]] }, 'discount'],
    [{ 'deal["stage"]': 'won' }, 'stage'],
    [{ "deal['stage']": 'won' }, 'stage'],
    [{ '$.deal.stage': 'won' }, 'stage'],
    [{ "deal->>'stage'": 'won' }, 'stage'],
    [{ '/deal~1stage': 'won' }, 'stage'],
    [{ 'deal%2Estage': 'won' }, 'stage'],
    [{ 'DEAL . Stage ': 'won' }, 'stage'],
    [{ Ｄｅａｌ: { ｓｔａｇｅ: 'won' } }, 'stage'],
    [{ payload: '{"deal":{"stage":"won"}}' }, 'stage'],
    [{ payload: JSON.stringify(JSON.stringify({ deal: { stage: 'won' } })) }, 'stage'],
    [{ deal: '{"stage":"won"}' }, 'stage'],
    [{ body: '```json\n{"discount": 90}\n```' }, 'discount'],
    [{ payload: '[{"op":"replace","path":"/deal/stage","value":"won"}]' }, 'stage'],
    [{ payload: encodeURIComponent('{"discount":90}') }, 'discount'],
    [{ body: 'discount=90&x=1' }, 'discount'],
    [{ body: 'deal%5Bstage%5D=won' }, 'stage'],
    [{ url: 'https://crm.example/deals/5?discount=90' }, 'discount'],
    [{ raw: 'discount = 90' }, 'discount'],
    [{ 'deal.stagе': 'won' }, 'stage'],
    [{ dıscount: 90 }, 'discount'],
    [{ DİSCOUNT: 90 }, 'discount'],
    [{ '@discount': 90 }, 'discount'],
    [{ 'deal:stage': 'won' }, 'stage'],
    [{ '(discount)': 90 }, 'discount'],
    [{ path: ['deal', 'stage'], value: 'won' }, 'stage'],
    [{ field: { name: 'discount' }, value: 90 }, 'discount'],
    [{ payload: 'owner: ann\ndiscount: 90' }, 'discount'],
    [{ payload: '---\ndeal:\n  id: 5\n  stage: won\n' }, 'stage'],
    [{ query: 'query A { a } mutation B { updateDeal(stage: WON) { id } }' }, 'unreadable_change'],
    [{ query: '# a\nmutation { updateDeal(stage: WON) { id } }' }, 'unreadable_change'],
    [{ query: 'mutation { updateDeal(stage: "won") { id } }' }, 'unreadable_change'],
    [{ payload: "{deal: {stage: 'won'}}" }, 'unreadable_change'],
    [{ payload: '{"a":1}\n{"discount":90}' }, 'unreadable_change'],
    [{ payload: `{"x":"${'y'.repeat(1024 * 1024)}"}` }, 'unreadable_change'],
    [{ raw: 'set the stage of the deal to won' }, 'unreadable_change'],
    [{ raw: 5 }, 'unreadable_change'],
    ['set the stage to won', 'unreadable_change'],
    [['stage', 'won'], 'unreadable_change'],
  ])('RS3 %j is found by the rule %s', (change, rule) => {
    expect(judged(change).hardStop).toBe(true)
    expect(brokenBy(change)).toContain(rule)
  })

  test.each<unknown>([
    { note: 'UPDATE deals SET discount = 90' },
    { reasoning: '{"discount": 90}' },
    { path: 'config/deals.json', content: '{"discount": 90}' },
    { path: 'a.json', edits: [{ old: '{"discount": 1}', new: '{"discount": 90}' }] },
    { file_path: 'a.ts', old_string: 'discount = 1', new_string: 'discount = 90' },
    { message: 'fix: discount = 90' },
    { subject: 'Update the deals and set a new stage', description: 'Call Ann (mobile); {soon}' },
    { title: 'Delete from cache when expired', text: 'Drop by the table: 50 % off' },
    { description: '[WIP] create table of contents' },
    { tags: ['stage', 'won'], amount: 5 },
    { template: '{{name}}: {{value}}', code: '{ const a = 1 }' },
    { owner: 'o', title: 'Update deps', body: 'Steps:\n1. x = 5\n\n```json\n{"a": 1}\n```' },
    { channel: 'C1', text: 'Reminder: the discount is 90 % = a lot; see https://x.y/?a' },
    { fields: [{ name: 'Comment', type: 'textbox', ref: 'e1', value: 'hello {x: 1}' }] },
    { summary: 'Sync', recurrence: ['RRULE:FREQ=WEEKLY;BYDAY=MO'] },
    { name: 'Ann', value: 5 },
    { body: 'discount=10&region=emea' },
    { sql: 'SELECT discount FROM deals' },
    [{ op: 'replace', path: '/discount', value: 20 }],
    [{ field: 'region', value: 'emea' }],
    {},
    [],
  ])('RS3 ordinary text and allowed values pass: %j', (change) => {
    expect(judged(change)).toMatchObject({ hardStop: false, isUnreadable: false, violations: [] })
  })

  test('RS3 without hard stops an unreadable change needs approval', () => {
    const change = { raw: 'make it cheaper' }
    expect(judged(change, { of: soft })).toMatchObject({ hardStop: false, isUnreadable: true })
    expect(judged(change, { of: [] })).toMatchObject({ hardStop: false, isUnreadable: true })
  })

  test('RS3 M7 an unreadable change needs as many approvals as the strictest rule', () => {
    const of = [{ id: 'price', field: 'price', constraint: 'high_risk', approvers: 2 }]
    expect(judged({ raw: 'make it cheaper' }, { of })).toMatchObject({
      hardStop: false,
      approvers: 2,
      highRisk: ['raw'],
    })
  })

  test('RS3 a text is the value of the field that the proposal names', () => {
    const change = { raw: 'call back on Monday' }
    expect(judged(change, { field: 'summary' })).toMatchObject({ isUnreadable: false })
    expect(judged({ raw: 'UPDATE d SET discount = 90' }, { field: 'summary' }).hardStop).toBe(true)
  })

  test.each(['dealStage', 'deal-stage', 'Deal Stage', 'DEAL_STAGE', 'deal_stage\u200b'])(
    'RS3 the spelling %j of a field name is the same field',
    (key) => {
      const of = [{ field: 'deal_stage', constraint: 'readonly' }]
      expect(judged({ [key]: 'won' }, { of }).hardStop).toBe(true)
    },
  )

  test.each([
    '['.repeat(500_000),
    '{"a":'.repeat(200_000),
    '{"a":'.repeat(200_000) + '}',
    `${'/*'.repeat(30_000)} update`,
    `${"'".repeat(60_000)} update a set b = `,
    'update a set b = ('.repeat(3_000),
    'a=1&'.repeat(200_000),
    'a: 1\n'.repeat(200_000),
    '\n'.repeat(900_000) + 'mutation',
    '}mutation '.repeat(90_000),
    Array.from({ length: 1300 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
    `${'%41'.repeat(300_000)} `,
    `a=${' '.repeat(900_000)}x`,
    `select ${';'.repeat(900_000)}`,
    '```json ' + '``` '.repeat(200_000) + 'x',
    '"'.repeat(900_000),
    JSON.stringify(Array.from({ length: 90_000 }, () => 'a=1')),
  ])('RS3 a hostile text is checked in bounded time', (text) => {
    expect(judged({ payload: text }).rulesChecked).toBe(3)
  })

  test('RS3 more decoded fields than the limit are unreadable', () => {
    expect(judged({ payload: 'a=1&'.repeat(200_000) })).toMatchObject({ isUnreadable: true })
    let deep = '{"discount":90}'
    for (let level = 0; level < 12; level++) deep = JSON.stringify({ a: deep })
    expect(judged({ payload: deep }).hardStop).toBe(true)
  })
})

type Encode = (path: readonly string[], value: unknown) => unknown

const nested: Encode = (path, value) =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)

const encodings: Encode[] = [
  nested,
  (path, value) => ({ [path.join('.')]: value }),
  (path, value) => ({ [path.map((key, at) => (at === 0 ? key : `["${key}"]`)).join('')]: value }),
  (path, value) => [{ op: 'replace', path: `/${path.join('/')}`, value }],
  (path, value) => ({ field: path.join('.'), new_value: value }),
  (path, value) => ({ updates: [{ Name: path.join('.'), Value: value }] }),
  (path, value) => [[path.join('.'), value]],
  (path, value) => ({ columns: [path.join('.')], values: [value] }),
]
const wraps: ((inner: unknown) => unknown)[] = [
  (inner) => inner,
  (inner) => ({ payload: JSON.stringify(inner) }),
  (inner) => ({ data: [inner], other: 1 }),
  (inner) => ({ x: encodeURIComponent(JSON.stringify(inner)) }),
  (inner) => ({ body: JSON.stringify(JSON.stringify(inner)) }),
]

test('RS3 any encoding of a field hits the rules that the plain form hits', () => {
  fc.assert(
    fc.property(
      fc.constantFrom([
        ['discount'],
        ['deal', 'stage'],
        ['region'],
        ['x', 'discount'],
        ['summary'],
      ]),
      fc.constantFrom<unknown>(5, 90, 'emea', 'mars', null, { stage: 1 }, [90]),
      fc.constantFrom(...encodings),
      fc.array(fc.constantFrom(...wraps), { maxLength: 4 }),
      (paths, value, encode, around) => {
        for (const path of paths) {
          const change = around.reduce<unknown>((inner, wrap) => wrap(inner), encode(path, value))
          expect(brokenBy(change)).toEqual(expect.arrayContaining(brokenBy(nested(path, value))))
        }
      },
    ),
    { numRuns: 400 },
  )
})

test('RS3 any text is evaluated or refused without a crash', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
      expect(judged({ a: value, b: text, c: JSON.stringify({ text }) }).rulesChecked).toBe(3)
    }),
  )
})
