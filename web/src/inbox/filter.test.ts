import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseSearch, stringifySearch } from '../audit/filter.ts'
import { buildChips, countByKind, parseInboxFilters, kindLabel, matches } from './filter.ts'
import { item } from './approval.fixture.ts'

test('C1 the URL holds the inbox filters, and no URL fails', () => {
  const filters = { kind: 'spot_check', q: 'deal stage', view: 'decided' } as const
  expect(parseInboxFilters(parseSearch(stringifySearch(filters)))).toEqual(filters)
  expect(parseInboxFilters({ kind: '../x', q: '  ', view: 'all' })).toEqual({})
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('kind', 'q', 'view'), fc.anything()), (search) => {
      const once = parseInboxFilters(search)
      expect(parseInboxFilters({ ...once })).toEqual(once)
    }),
  )
})

test('C2 a search matches every word anywhere in the row', () => {
  const deal = item()
  for (const q of ['closed_won', 'SALES crm', 'deal_12345 update', 'stage'])
    expect(matches(deal, { q }), q).toBe(true)
  for (const q of ['sales tickets', 'lost']) expect(matches(deal, { q }), q).toBe(false)
  expect(matches(deal, { kind: 'call' })).toBe(false)
  expect(matches(deal, { kind: 'proposal', q: 'won' })).toBe(true)
})

test('C2 chips show the existing kinds with counts, and the chosen kind', () => {
  const counts = countByKind([item(), item(), item({ kind: 'call' })])
  expect(counts).toEqual({ all: 3, proposal: 2, call: 1 })
  const formatChips = (chosen?: string) =>
    buildChips(counts, chosen).map(({ label, count }) => `${label} ${count}`)
  expect(formatChips()).toEqual(['All 3', 'Proposals 2', 'Tool calls 1'])
  expect(formatChips('spot_check')).toEqual([
    'All 3',
    'Proposals 2',
    'Tool calls 1',
    'Spot checks 0',
  ])
})

test('C2 an unknown kind is labeled by its name', () => {
  expect(kindLabel('system_finding')).toBe('System finding')
  expect(kindLabel('constructor')).toBe('Constructor')
})
