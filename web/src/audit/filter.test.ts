import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toSearchString } from '../api/query-string.ts'
import {
  filterNames,
  parseFilters,
  kinds,
  outcomes,
  parseSearch,
  toQuery,
  stringifySearch,
  removeFilters,
} from './filter.ts'

test('C1 the URL shows filters without quotes or brackets', () => {
  const filters = { kind: 'calls', actor: 'sales', q: '42', from: '2026-11-01' } as const
  const address = stringifySearch(filters)
  expect(address).toBe('?kind=calls&actor=sales&q=42&from=2026-11-01')
  expect(parseFilters(parseSearch(address))).toEqual(filters)
  expect(stringifySearch({})).toBe('')
})

test('C1 any URL parses to filters that serialize again', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 })
  const names = [...filterNames, 'other']
  const search = fc.record(Object.fromEntries(names.map((name) => [name, text])), {
    requiredKeys: [],
  })
  fc.assert(
    fc.property(search, (given) => {
      const filters = parseFilters(given)
      expect('other' in filters).toBe(false)
      expect(parseFilters(parseSearch(stringifySearch(filters)))).toEqual(
        // A lone surrogate cannot be written in an address.
        Object.fromEntries(
          Object.entries(filters).map(([name, value]) => [name, value.toWellFormed().trim()]),
        ),
      )
      toSearchString(toQuery(filters))
    }),
  )
})

test.each([
  [{ kind: 'toString' }],
  [{ outcome: 'maybe' }],
  [{ type: 'CALL' }],
  [{ from: '2026-02-30' }],
  [{ to: 'yesterday' }],
  [{ actor: '   ' }],
  [{ q: ['a'] }],
])('C1 %o is invalid and ignored', (search) => {
  expect(parseFilters(search)).toEqual({})
})

test('C8 kind, type and outcome select the intersection of types', () => {
  const types = (search: Record<string, string>) => toQuery(parseFilters(search))['type']
  expect(types({})).toBeUndefined()
  expect(types({ kind: 'calls' })).toEqual(kinds.calls.types)
  expect(types({ kind: 'calls', type: 'halt.' })).toEqual(['halt.'])
  expect(types({ outcome: 'refused' })).toEqual(outcomes.refused)
  expect(types({ outcome: 'refused', kind: 'calls' })).toEqual(['call.refused'])
  expect(types({ outcome: 'done', type: 'call.done' })).toEqual(['call.done'])
  expect(types({ outcome: 'done', kind: 'halts' })).toEqual(['nothing.'])
})

test('C8 days are local and inclusive', () => {
  const { since, until } = toQuery({ from: '2026-11-14', to: '2026-11-15' })
  expect(since).toBe(new Date(2026, 10, 14).toISOString())
  expect(until).toBe(new Date(2026, 10, 16).toISOString())
})

test('C8 a filter can be removed', () => {
  expect(removeFilters({ kind: 'calls', q: 'x', actor: 'y' }, 'kind', 'q')).toEqual({ actor: 'y' })
})
