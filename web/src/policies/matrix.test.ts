import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/base/config/index.ts'
import { createPolicies } from '../../../src/governance/rules/policy.ts'
import { findMapping, buildMatrix } from './matrix.ts'
import type { Mapping } from './policy.ts'

const map = (
  agent_id: string,
  domain: string,
  policy_id: string,
  source: Mapping['source'] = 'config',
): Mapping => ({ agent_id, domain, policy_id, source })

const mappings = [
  map('sales-agent', 'crm.deals', 'deals'),
  map('sales-*', 'crm.*', 'crm'),
  map('codex', 'code', 'code', 'approved'),
]

test('C4 Y4 the matrix has mapped and known pairs, and no cell without a match', () => {
  const { agents, domains, at } = buildMatrix(mappings, [{ agent: 'gemini', domain: 'docs' }])
  expect(agents).toEqual(['codex', 'gemini', 'sales-agent', 'sales-*'])
  expect(domains).toEqual(['code', 'crm.deals', 'docs', 'crm.*'])
  expect(at('sales-agent', 'crm.deals')?.policy_id).toBe('deals')
  expect(at('sales-agent', 'crm.*')?.policy_id).toBe('crm')
  expect(at('sales-*', 'crm.deals')?.policy_id).toBe('crm')
  expect(at('codex', 'code')?.source).toBe('approved')
  expect(at('gemini', 'docs')).toBeUndefined()
  const wide = [map('*', '*', 'rest'), ...mappings]
  expect(buildMatrix(wide, []).agents).toEqual(['codex', 'sales-agent', 'sales-*', '*'])
})

test('C4 Y1 the matrix shows the policy that the daemon applies', () => {
  const { config } = loadConfig({ env: {} })
  const name = fc.constantFrom('a', 'ab', 'abc', 'a*', '*', 'ab*', '*c')
  const exact = fc.constantFrom('a', 'ab', 'abc', 'bc')
  const mapping = fc.record({ agent_id: name, domain: name })
  fc.assert(
    fc.property(fc.array(mapping, { maxLength: 6 }), exact, exact, (given, agent, domain) => {
      // Two of the same kind are refused when the file is read.
      const one = new Map(
        given.map((it) => [`${shape(it.agent_id)} ${shape(it.domain)}`, it] as const),
      )
      const list = [...one.values()].map((it, at) => ({ ...it, policy_id: `p${at}` }))
      const policies = list.map(({ policy_id: id }) => ({
        id,
        description: '',
        mode: 'enforce' as const,
        rules: [],
      }))
      const daemon = createPolicies({ ...config, policies, mappings: list })
      const shown = findMapping(
        list.map((it) => ({ ...it, source: 'config' })),
        agent,
        domain,
      )
      expect(shown?.policy_id).toBe(daemon.find(agent, domain)?.id)
    }),
  )
})

/** Returns the part of a glob that decides its specificity. */
const shape = (glob: string) =>
  glob.includes('*') ? `glob ${glob.replaceAll('*', '').length}` : glob
