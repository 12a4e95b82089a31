import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesGlob, globSpecificity } from '#base/glob.ts'
import { loadYaml, problemsOf } from '../../../test/base/config/config.fixture.ts'
import { configSchema } from './schema.ts'

const yamlOf = (...mappings: [string, string][]) =>
  `policies: [{id: p}]\nmappings:\n${mappings
    .map(([agent, domain]) => `  - {agent_id: "${agent}", domain: "${domain}", policy_id: p}\n`)
    .join('')}`

test('Y1 two mappings that fit equally well are refused at the line of the second', () => {
  expect(problemsOf(yamlOf(['sales', 'crm'], ['sales-*', '*'], ['*-sales', '*']))).toEqual([
    '5:16 mappings[2].agent_id ties with agent_id "sales-*" and domain "*" of item 2: both match some agent and domain equally well. Make one more specific',
  ])
  expect(problemsOf(yamlOf(['sales', 'crm.*'], ['sales', '*.crm']))).toHaveLength(1)
  expect(problemsOf(yamlOf(['a*', 'crm'], ['*b', 'crm']))).toHaveLength(1)
})

test('Y1 mappings of the same weight that nothing fits both are not a tie', () => {
  const { config } = loadYaml(
    yamlOf(['sales', 'crm'], ['sales', 'erp'], ['a*', '*'], ['b*', '*'], ['*', 'cc*'], ['*x', 'y']),
  )
  expect(config.mappings).toHaveLength(6)
})

test('Y1 a mapping written twice is told once', () => {
  expect(problemsOf(yamlOf(['a*', '*'], ['a*', '*']))).toEqual([
    '4:16 mappings[1].agent_id repeats agent_id "a*" and domain "*" of item 1: remove one',
  ])
})

test('Y1 refused is exactly what leaves some agent and domain with two mappings that fit equally', () => {
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
