import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesGlob, globSpecificity } from '#base/glob.ts'
import { loadYaml, listProblems } from '../../../test/base/config/config.fixture.ts'
import { configSchema } from './schema.ts'

const toYaml = (...mappings: [string, string][]) =>
  `policies: [{id: p}]\nmappings:\n${mappings
    .map(([agent, domain]) => `  - {agent_id: "${agent}", domain: "${domain}", policy_id: p}\n`)
    .join('')}`

test('Y1 two mappings with a tie are refused at the line of the second', () => {
  expect(listProblems(toYaml(['sales', 'crm'], ['sales-*', '*'], ['*-sales', '*']))).toEqual([
    '5:16 mappings[2].agent_id ties with agent_id "sales-*" and domain "*" of item 2: both match some agent and domain equally well. Make one more specific',
  ])
  expect(listProblems(toYaml(['sales', 'crm.*'], ['sales', '*.crm']))).toHaveLength(1)
  expect(listProblems(toYaml(['a*', 'crm'], ['*b', 'crm']))).toHaveLength(1)
})

test('Y1 mappings with equal specificity but no common match are not a tie', () => {
  const { config } = loadYaml(
    toYaml(['sales', 'crm'], ['sales', 'erp'], ['a*', '*'], ['b*', '*'], ['*', 'cc*'], ['*x', 'y']),
  )
  expect(config.mappings).toHaveLength(6)
})

test('Y1 a duplicate mapping is reported once', () => {
  expect(listProblems(toYaml(['a*', '*'], ['a*', '*']))).toEqual([
    '4:16 mappings[1].agent_id repeats agent_id "a*" and domain "*" of item 1: remove one',
  ])
})

test('Y1 mappings are refused exactly if some agent and domain match two equally', () => {
  const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1, maxLength: 3 })
  const mapping = fc.record({ agent_id: glob, domain: glob, policy_id: fc.constant('p') })
  const texts = Array.from({ length: 6 }, (_, index) => index + 1).flatMap((length) =>
    Array.from({ length: 2 ** length }, (_, bits) =>
      bits.toString(2).padStart(length, '0').replaceAll('0', 'a').replaceAll('1', 'b'),
    ),
  )
  const meet = (a: string, b: string) =>
    texts.some((text) => matchesGlob(a, text) && matchesGlob(b, text))
  const weight = (it: { agent_id: string; domain: string }) =>
    String(globSpecificity(it.agent_id, it.domain))
  fc.assert(
    fc.property(fc.array(mapping, { maxLength: 4 }), (mappings) => {
      const isTie = mappings.some((a, index) =>
        mappings
          .slice(0, index)
          .some(
            (b) =>
              weight(a) === weight(b) && meet(a.agent_id, b.agent_id) && meet(a.domain, b.domain),
          ),
      )
      const { success } = configSchema.safeParse({ policies: [{ id: 'p' }], mappings })
      expect(success).toBe(!isTie)
    }),
    { numRuns: 500 },
  )
})
