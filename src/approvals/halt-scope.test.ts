import { describe, expect, test } from 'vitest'
import { anna, propose } from '../../test/acts.ts'
import { agentCaller } from '../../test/governance.ts'
import { governed } from '../../test/governed.ts'
import type { Governed } from '../../test/governed.ts'
import { createHalts } from './halt.ts'
import { knownNames } from '../app/known-names.ts'
import { haltTools } from './tools.ts'
import type { NamesOf } from './tools.ts'

async function begin() {
  const known: NamesOf = (...asked) => knownNames(system)(...asked)
  const system: Governed = await governed(
    {},
    {
      domain: ({ db, now }) => ({
        kinds: [],
        tools: haltTools(createHalts(db, now), (...asked) => known(...asked)),
      }),
    },
  )
  return {
    system,
    halt: (scope: string, force = true) =>
      system.call('cowork_halt', { scope, reason: 'wait', force }, anna),
    resume: (scope: string) => system.call('cowork_resume', { scope }, anna),
  }
}

describe('what can be halted', () => {
  test.each([
    ['agent:bad one', { domain: 'crm' }, 'bad one'],
    ['domain:sales emea', { domain: 'sales emea' }, 'sales'],
    [`agent:${'🤝'.repeat(128)}`, {}, '🤝'.repeat(128)],
    ['domain:営業', { domain: '営業' }, 'sales'],
  ])('A9 %s is, and resumed', async (scope, more, agent) => {
    const { system, halt, resume } = await begin()
    expect(await halt(scope)).toMatchObject({ scope })
    expect(await propose(system, more, agentCaller(agent))).toMatchObject({ fault: 'halted' })
    expect(await resume(scope)).toMatchObject({ resumed: true })
  })

  test.each(['domain:', 'domain: crm', 'agent:sales ', 'agent:a\nb', 'crm', 'everything'])(
    'A9 %j is not, and it is said why',
    async (scope) => {
      const { halt } = await begin()
      expect(await halt(scope)).toMatchObject({
        fault: 'invalid_input',
        message: expect.stringMatching(/scope: must be all, agent:<id>.*white space at its ends/),
      })
    },
  )

  test('A9 a domain is halted under its one spelling, and no other can be proposed in to get round it', async () => {
    const { system, halt } = await begin()
    await halt('domain:crm')
    for (const domain of ['crm ', ' crm', 'cr\u200bm', 'crm\u0000'])
      expect(await propose(system, { domain })).toMatchObject({ fault: 'invalid_input' })
    expect(await propose(system, { domain: 'crm' })).toMatchObject({ fault: 'halted' })
    // As in mappings, where CRM is another domain too.
    expect(await propose(system, { domain: 'CRM' })).toMatchObject({ status: 'pending' })
  })
})

describe('names that nothing knows', () => {
  test('RC3 an unknown agent is not halted, and the nearest known one is named', async () => {
    const { system, halt, resume } = await begin()
    await propose(system, { domain: 'crm' }, agentCaller('sales'))
    expect(await halt('agent:slaes', false)).toMatchObject({
      fault: 'unknown_agent',
      hint: expect.stringContaining('Did you mean agent:sales?'),
    })
    expect(await resume('agent:slaes')).toMatchObject({ fault: 'not_found' })
    expect(await halt('agent:sales', false)).toMatchObject({ scope: 'agent:sales' })
  })

  test('RC3 an unknown domain or server is not halted either, unless it is forced', async () => {
    const { system, halt } = await begin()
    await propose(system, { domain: 'crm' }, agentCaller('sales'))
    expect(await halt('domain:cmr', false)).toMatchObject({
      fault: 'unknown_domain',
      hint: expect.stringContaining('Did you mean domain:crm?'),
    })
    expect(await halt('server:nothing', false)).toMatchObject({ fault: 'unknown_server' })
    expect(await halt('domain:cmr')).toMatchObject({ scope: 'domain:cmr' })
    for (const scope of ['all', 'domain:crm', 'domain:files'])
      expect(await halt(scope, false)).toMatchObject({ scope })
  })

  test('RC3 an agent that only the ledger knows is halted', async () => {
    const { system, halt } = await begin()
    await system.call(
      'cowork_log',
      { domain: 'x', action: 'look', target: 't' },
      agentCaller('seen'),
    )
    expect(await halt('agent:seen', false)).toMatchObject({ scope: 'agent:seen' })
  })
})
