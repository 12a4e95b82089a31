import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { captureError } from '../../../test/base/config/config.fixture.ts'
import { extractFields } from './fields.ts'

const shortly = (change: unknown, field?: string) =>
  extractFields(change, field).map(({ name, path, value }) => [name, path, value])

test('M4 keys at every level count, by name and dotted path', () => {
  const contact = { owner: 'ann', tags: ['a', 'b'] }
  expect(shortly({ deal_stage: 'won', contact })).toEqual([
    ['deal_stage', 'deal_stage', 'won'],
    ['contact', 'contact', contact],
    ['owner', 'contact.owner', 'ann'],
    ['tags', 'contact.tags', ['a', 'b']],
    ['tags', 'contact.tags.0', 'a'],
    ['tags', 'contact.tags.1', 'b'],
  ])
})

test('M4 fields inside the items of a list have their own names', () => {
  expect(shortly({ items: [{ price: 5 }] })).toContainEqual(['price', 'items.0.price', 5])
  expect(shortly([[{ owner: 'x' }]])).toContainEqual(['owner', '0.0.owner', 'x'])
})

test.each([
  ['{ value }', { value: 5 }],
  ['{ raw }', { raw: 5 }],
  ['a bare value', 5],
])('M4 the field takes its value from %s', (_form, change) => {
  expect(shortly(change, 'amount')).toContainEqual(['amount', 'amount', 5])
})

test('M4 a field named in the change does not appear twice, in any case', () => {
  expect(shortly({ Amount: 5 }, 'amount')).toEqual([['Amount', 'Amount', 5]])
  expect(shortly({ order: { amount: 5 } }, 'order.amount')).toHaveLength(2)
})

test('M4 a field without its own value has the whole change as value', () => {
  const change = { from: 1, to: 1_000_000 }
  expect(shortly(change, 'amount')).toEqual([
    ['amount', 'amount', change],
    ['from', 'amount.from', 1],
    ['to', 'amount.to', 1_000_000],
    ['from', 'from', 1],
    ['to', 'to', 1_000_000],
  ])
})

test('M4 a field without a change has no value', () => {
  expect(shortly(undefined, 'owner')).toEqual([['owner', 'owner', undefined]])
  expect(shortly(undefined)).toEqual([])
  expect(shortly('text')).toEqual([['', '', 'text']])
  expect(shortly(null, 'owner')).toEqual([['owner', 'owner', null]])
})

test.each(['order.items[0].price', 'order/items/0/price', '/order/items/0/price'])(
  'M4 the key %s is its path, and sets every field on that path',
  (key) => {
    const spelled = [
      ['order', 'order', { items: [{ price: 5 }] }],
      ['items', 'order.items', [{ price: 5 }]],
      ['items', 'order.items.0', { price: 5 }],
      ['price', 'order.items.0.price', 5],
    ]
    expect(shortly({ [key]: 5 })).toEqual(spelled)
    expect(shortly({ value: 5 }, key)).toEqual([...spelled, ['value', 'value', 5]])
  },
)

test('M4 a key of digits or dots is an ordinary name', () => {
  expect(shortly({ 2024: 1, '..': 2, '': 3, 'a[1]': 4 })).toEqual([
    ['2024', '2024', 1],
    ['..', '..', 2],
    ['', '', 3],
    ['a', 'a', [4]],
    ['a', 'a.1', 4],
  ])
})

test('M4 __proto__ is an ordinary key', () => {
  const change: unknown = JSON.parse('{"__proto__": {"owner": "x"}}')
  expect(shortly(change)).toContainEqual(['owner', '__proto__.owner', 'x'])
})

test('M4 a change too deep or too wide to record is refused without a stack overflow', () => {
  const nested = (levels: number) => {
    let value: unknown = 1
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
    return value
  }
  expect(extractFields(nested(64))).toHaveLength(64)
  const long = { ['k'.repeat(100_000)]: Array.from({ length: 100_000 }, () => 1) }
  for (const change of [nested(70), nested(200_000), long, { ['a.'.repeat(1_000_000)]: 1 }])
    expect(captureError(() => extractFields(change))).toMatchObject({ code: 'invalid_input' })
})

test('M4 depth, lists, other keys and another `field` hide no field', () => {
  const wrap = fc.constantFrom<((inner: unknown) => unknown)[]>(
    (inner) => ({ value: inner }),
    (inner) => ({ 'a.b': inner, other: 1 }),
    (inner) => [null, inner],
    (inner) => ({ x: [inner], y: {} }),
  )
  const key = fc.constantFrom('owner', 'deal.owner', 'deal[0].owner', '/owner')
  const field = fc.option(fc.constantFrom('note', 'owner', 'x.y'), { nil: undefined })
  fc.assert(
    fc.property(
      key,
      fc.array(wrap, { maxLength: 12 }),
      field,
      fc.jsonValue(),
      (own, wraps, other, value) => {
        const change = wraps.reduce<unknown>((inner, wrapped) => wrapped(inner), { [own]: value })
        const found = extractFields(change, other).filter(({ name }) => name === 'owner')
        expect(found.map((each) => each.value)).toContainEqual(value)
      },
    ),
  )
})

/** Spellings of one key that differ in `_` alone. */
const spellings = (word: string, length: number) =>
  Array.from({ length }, (_, at) =>
    [...word].map((letter, place) => letter + '_'.repeat((at >> (2 * place)) & 3)).join(''),
  )
const keysWith = (keys: readonly string[], value: unknown) =>
  Object.fromEntries(keys.map((key) => [key, value]))

test.each([
  ['a list in a text', { x: `[${'1,'.repeat(100_000)}1]` }],
  ['objects in a text', { x: `[${'{},'.repeat(80_000)}{}]` }],
  ['many lists in texts', { x: Array.from({ length: 1500 }, () => `[${'1,'.repeat(50)}1]`) }],
  ['a form', { x: 'a=1&b=2&'.repeat(30_000) }],
])('RS4 more fields than an agent may write are unreadable: %s', (_, change) => {
  const fields = extractFields(change)
  expect(fields.length).toBeLessThan(10_000)
  expect(fields).toContainEqual(expect.objectContaining({ isUnreadable: true }))
})

test.each([
  [
    'every name goes with every value',
    { ...keysWith(spellings('parameter', 2000), 'a'), ...keysWith(spellings('newvalue', 2000), 1) },
  ],
  [
    'every column goes with every row',
    { columns: spellings('column', 2000), rows: Array.from({ length: 1000 }, () => []) },
  ],
  ['keys name fields on the way', keysWith(spellings('a.b.c.d.e.f', 4000), 1)],
])('RS4 more fields than an agent may write are refused: %s', (_, change) => {
  expect(captureError(() => extractFields(change))).toMatchObject({ code: 'invalid_input' })
})

test('RS4 reading the keys of an object takes linear time', () => {
  expect(extractFields(keysWith(spellings('contents', 4000), 'text'))).toHaveLength(4000)
})

test('RS4 a table or a list of 4,000 values is readable', () => {
  const table = { columns: ['stage'], rows: Array.from({ length: 2000 }, () => ['won']) }
  expect(extractFields(table).filter(({ name }) => name === 'stage')).not.toHaveLength(0)
  expect(extractFields(JSON.stringify(Array.from({ length: 4000 }, () => 1)))).toContainEqual(
    expect.objectContaining({ path: '3999' }),
  )
})

test('RS4 a text of white space is read once', () => {
  expect(extractFields({ x: `${' '.repeat(250_000)}x` })).toHaveLength(1)
})
