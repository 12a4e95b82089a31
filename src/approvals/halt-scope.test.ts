import { describe, expect, test } from 'vitest'
import { anna, propose } from '../../test/acts.ts'
import { agentCaller } from '../../test/governance.ts'
import { governed } from '../../test/governed.ts'

async function begin() {
  const system = await governed()
  return {
    system,
    halt: (scope: string) =>
      system.call('cowork_halt', { scope, reason: 'wait', force: true }, anna),
    resume: (scope: string) => system.call('cowork_resume', { scope }, anna),
  }
}

describe('the scope of a halt', () => {
  test.each([
    ['agent:bad one', { domain: 'crm' }, 'bad one'],
    ['domain:sales emea', { domain: 'sales emea' }, 'sales'],
    [`agent:${'🤝'.repeat(128)}`, {}, '🤝'.repeat(128)],
    ['domain:営業', { domain: '営業' }, 'sales'],
  ])('A9 halts and resumes %s', async (scope, more, agent) => {
    const { system, halt, resume } = await begin()
    expect(await halt(scope)).toMatchObject({ scope })
    expect(await propose(system, more, agentCaller(agent))).toMatchObject({ fault: 'halted' })
    expect(await resume(scope)).toMatchObject({ resumed: true })
  })

  test.each(['domain:', 'domain: crm', 'agent:sales ', 'agent:a\nb', 'crm', 'everything'])(
    'A9 refuses the scope %j with an explanation',
    async (scope) => {
      const { halt } = await begin()
      expect(await halt(scope)).toMatchObject({
        fault: 'invalid_input',
        message: expect.stringMatching(
          /scope: must be all, agent:<id>.*without leading or trailing spaces/,
        ),
      })
    },
  )

  test('A9 a domain has one canonical spelling, so a proposal cannot bypass a halt with another', async () => {
    const { system, halt } = await begin()
    await halt('domain:crm')
    for (const domain of ['crm ', ' crm', 'cr\u200bm', 'crm\u0000'])
      expect(await propose(system, { domain })).toMatchObject({ fault: 'invalid_input' })
    expect(await propose(system, { domain: 'crm' })).toMatchObject({ fault: 'halted' })
    // Like mappings, which treat CRM as a different domain.
    expect(await propose(system, { domain: 'CRM' })).toMatchObject({ status: 'pending' })
  })
})
