import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { standing } from './trust-rows.fixture.ts'
import {
  parseAgentFilters,
  joinStandings,
  listFilters,
  buildHeatMap,
  buildRows,
  filterRows,
} from './trust-rows.ts'

const pairs = [
  standing({ agent_id: 'sales', domain: 'crm.deals', trust_level: 0.72, overrides: 2 }),
  standing({ agent_id: 'sales', domain: 'crm.contacts', trust_level: 0.3, overrides: 0 }),
  standing({
    agent_id: 'codex',
    domain: 'code',
    trust_level: 0.9,
    overrides: 1,
    last_active_at: '2026-11-15T12:00:00.000Z',
  }),
]
const names = (filters: Parameters<typeof filterRows>[1]) =>
  filterRows(buildRows(pairs, ['codex', 'newcomer']), filters).map(
    ({ agent, standing: it }) => `${agent} ${it?.domain ?? '-'}`,
  )

test('C3 the table has every pair and agents without activity', () => {
  expect(names({})).toEqual(['codex code', 'sales crm.contacts', 'sales crm.deals', 'newcomer -'])
})

test('C3 the table is sorted by priority and filtered by words', () => {
  expect(names({ sort: 'trust' })[0]).toBe('sales crm.contacts')
  expect(names({ sort: 'overrides' })[0]).toBe('sales crm.deals')
  expect(names({ sort: 'active' })[0]).toBe('codex code')
  expect(names({ sort: 'trust' }).at(-1)).toBe('newcomer -')
  expect(names({ q: 'SALES deals' })).toEqual(['sales crm.deals'])
})

test('C3 the map has every pair of the table once', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd, e', '"')
  fc.assert(
    fc.property(fc.array(fc.tuple(name, name)), (given) => {
      const list = given.map(([agent_id, domain]) => standing({ agent_id, domain }))
      const { agents, domains, at } = buildHeatMap(list)
      const cells = agents.flatMap((agent) => domains.map((domain) => at(agent, domain)))
      const filled = cells.filter((cell) => cell !== undefined)
      expect(filled).toHaveLength(buildRows(filled, []).length)
      expect(new Set(filled.map((it) => `${it.agent_id}\n${it.domain}`))).toEqual(
        new Set(given.map((pair) => pair.join('\n'))),
      )
    }),
  )
})

test('C1 the URL holds the state, and invalid values are ignored', () => {
  const whole = { q: 'sales', view: 'map', sort: 'trust', domain: 'crm', days: '90' } as const
  expect(parseAgentFilters(whole)).toEqual(whole)
  expect(listFilters(whole)).toEqual({ q: 'sales', view: 'map', sort: 'trust' })
  expect(parseAgentFilters({ view: 'x', sort: 'agent', days: '7', q: ' ', domain: 5 })).toEqual({})
})

test('C3 T14 the details for people are joined to the public status', () => {
  const { classes, thresholds, ...status } = standing()
  const more = { agent_id: 'sales-agent', thresholds, classes }
  const found = joinStandings(
    [status, { ...status, domain: 'new' }],
    [{ ...more, domain: 'crm.deals' }],
  )
  // A pair that began between the two reads is shown with the next.
  expect(found).toEqual([standing()])
})
