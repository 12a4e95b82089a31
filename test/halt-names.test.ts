import { describe, expect, test } from 'vitest'
import { anna, propose } from './acts.ts'
import { agentCaller } from './governance.ts'
import { governed } from './governed.ts'

async function begin() {
  const system = await governed()
  return {
    system,
    halt: (scope: string, force = false) =>
      system.call('cowork_halt', { scope, reason: 'wait', force }, anna),
    resume: (scope: string) => system.call('cowork_resume', { scope }, anna),
  }
}

describe('unknown names', () => {
  test('RC3 an unknown agent is not halted, and the error suggests the closest name', async () => {
    const { system, halt, resume } = await begin()
    await propose(system, { domain: 'crm' }, agentCaller('sales'))
    expect(await halt('agent:slaes')).toMatchObject({
      fault: 'unknown_agent',
      hint: expect.stringContaining('Did you mean agent:sales?'),
    })
    expect(await resume('agent:slaes')).toMatchObject({ fault: 'not_found' })
    expect(await halt('agent:sales')).toMatchObject({ scope: 'agent:sales' })
  })

  test('RC3 an unknown domain or server is not halted either, unless forced', async () => {
    const { system, halt } = await begin()
    await propose(system, { domain: 'crm' }, agentCaller('sales'))
    expect(await halt('domain:cmr')).toMatchObject({
      fault: 'unknown_domain',
      hint: expect.stringContaining('Did you mean domain:crm?'),
    })
    expect(await halt('server:nothing')).toMatchObject({ fault: 'unknown_server' })
    expect(await halt('domain:cmr', true)).toMatchObject({ scope: 'domain:cmr' })
    for (const scope of ['all', 'domain:crm', 'domain:files'])
      expect(await halt(scope)).toMatchObject({ scope })
  })

  test('RC3 an agent known only from the ledger is halted', async () => {
    const { system, halt } = await begin()
    await system.call(
      'cowork_log',
      { domain: 'x', action: 'look', target: 't' },
      agentCaller('seen'),
    )
    expect(await halt('agent:seen')).toMatchObject({ scope: 'agent:seen' })
  })
})
