import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  changeLines,
  toEditableFields,
  flattenJson,
  parseJson,
  toLines,
  parseFieldValue,
} from './change.ts'
import type { Line } from './change.ts'

const formatLines = (lines: readonly Line[]) =>
  lines.map(({ sign, field, text }) => `${sign} ${field === undefined ? '' : `${field}: `}${text}`)

test('C2 a change shows old, new and unchanged values', () => {
  const before = { deal_stage: 'negotiation', amount: 48_000 }
  const change = { deal_stage: 'closed_won', amount: 48_000, note: 'signed' }
  expect(formatLines(changeLines(before, change))).toEqual([
    '− deal_stage: "negotiation"',
    '+ deal_stage: "closed_won"',
    '  amount: 48000',
    '+ note: "signed"',
  ])
})

test('C2 M4 nested fields are compared by their dotted path', () => {
  const change = { owner: { name: 'Ana', teams: ['a', 'b'] }, extra: {} }
  const wanted = [
    '− owner.name: "Ben"',
    '+ owner.name: "Ana"',
    '  owner.teams: ["a","b"]',
    '+ extra: {}',
  ]
  expect(formatLines(changeLines({ owner: { name: 'Ben', teams: ['a', 'b'] } }, change))).toEqual(
    wanted,
  )
  expect(
    formatLines(changeLines({ 'owner.name': 'Ben', 'owner.teams': ['a', 'b'] }, change)),
  ).toEqual(wanted)
})

test('C2 a long text keeps its lines, which are not mistaken for fields', () => {
  expect(formatLines(toLines({ body: 'Hello\nowner: "me"', to: 'ops' }))).toEqual([
    '  body: ',
    '  Hello',
    '  owner: "me"',
    '  to: "ops"',
  ])
  expect(toLines({ body: 'a\nowner: "me"' }).map(({ field }) => field)).toEqual([
    'body',
    undefined,
    undefined,
  ])
  expect(formatLines(changeLines({}, 'free text'))).toEqual(['+ "free text"'])
})

test('C2 every field of a change is shown, whatever it is', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.dictionary(fc.string(), fc.jsonValue()),
      (before, change) => {
        const lines = changeLines(before, change)
        const becomes = lines.filter(({ sign, field }) => sign !== '−' && field !== undefined)
        expect(becomes.map(({ field }) => field)).toEqual(
          flattenJson(change).map(([field]) => field),
        )
        expect(changeLines(change, change).every(({ sign }) => sign === ' ')).toBe(true)
      },
    ),
  )
})

test('C2 B3 simple fields are edited separately and keep their type', () => {
  expect(toEditableFields({ stage: 'won', amount: 5, vip: true, note: null })).toHaveLength(4)
  expect(toEditableFields({ owner: { name: 'x' } })).toBeUndefined()
  expect(toEditableFields({})).toBeUndefined()
  expect(toEditableFields(['a'])).toBeUndefined()
  expect(parseFieldValue(5, ' 4.5 ')).toBe(4.5)
  expect(parseFieldValue(5, 'many')).toBeUndefined()
  expect(parseFieldValue(5, '')).toBeUndefined()
  expect(parseFieldValue(true, 'false')).toBe(false)
  expect(parseFieldValue(null, '')).toBeNull()
  expect(parseFieldValue('a', '')).toBe('')
  const plain = fc.oneof(
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
  )
  fc.assert(
    fc.property(plain, (value) => {
      const same = parseFieldValue(value, String(value))
      expect(same === value || (same === 0 && value === 0)).toBe(true)
    }),
  )
})

test('C2 invalid JSON is reported and not sent', () => {
  expect(parseJson('{"a": 1}')).toEqual({ value: { a: 1 } })
  expect(parseJson('{a')).toHaveProperty('problem')
})
