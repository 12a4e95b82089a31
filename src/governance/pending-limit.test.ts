import { expect, test } from 'vitest'
import { anna, propose, sales, support } from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Governed } from '../../test/governed.ts'

const mapped = {
  policies: [{ id: 'p', rules: [] }],
  mappings: [{ agent_id: 'other', domain: 'x', policy_id: 'p' }],
}

const handOver = (to: Governed, reason: string, by = sales) =>
  to.call('cowork_handoff', { domain: 'crm', reason, confidence: 0.5 }, by)

test('Y4 V3 an agent has at most 50 pending domain requests and stays blocked in other domains', async () => {
  const system = await governed(mapped)
  const first = await propose(system, { domain: 'd0' })
  for (let at = 1; at < 50; at++)
    expect(await propose(system, { domain: `d${at}` })).toMatchObject({ fault: 'policy_blocked' })
  expect(await propose(system, { domain: 'one-more' })).toMatchObject({
    fault: 'too_many_requests',
    message: expect.stringContaining('50 of your requests'),
    hint: expect.stringContaining('cowork_withdraw'),
    blocked: true,
    mapping_found: false,
  })
  expect(await system.rows('approval')).toHaveLength(50)
  // A pending request is reported again, and other agents have their own limit.
  const again = await propose(system, { domain: 'd0' })
  expect(again['approval_id']).toBe(first['approval_id'])
  expect(await propose(system, { domain: 'd0' }, support)).toMatchObject({
    fault: 'policy_blocked',
  })
  await system.call('cowork_withdraw', { approval_id: first['approval_id'] }, sales)
  expect(await propose(system, { domain: 'one-more' })).toMatchObject({ fault: 'policy_blocked' })
})

test('H1 V3 at most 50 handoffs of an agent are pending', async () => {
  const system = await governed()
  const first = await handOver(system, 'number 0')
  for (let at = 1; at < 50; at++)
    expect(await handOver(system, `number ${at}`)).toMatchObject({ status: 'pending' })
  expect(await handOver(system, 'one more')).toMatchObject({
    fault: 'too_many_requests',
    message: '50 of your handoffs are pending already.',
    hint: expect.stringContaining('cowork_withdraw'),
  })
  expect(await system.rows('approval')).toHaveLength(50)
  expect(await handOver(system, 'mine', support)).toMatchObject({ status: 'pending' })
  const answer = { handoff_id: first['handoff_id'], resolution: 'done' }
  await system.call('cowork_resolve_handoff', answer, anna)
  expect(await handOver(system, 'one more')).toMatchObject({ status: 'pending' })
})

test('Y1 Y4 a domain named * is a single domain', async () => {
  const system = await governed(mapped)
  const { approval_id: id } = await propose(system, { domain: '*' })
  await system.call(
    'cowork_decide',
    { approval_ids: [id], decision: 'approve', policy_id: 'p' },
    anna,
  )
  expect(await propose(system, { domain: '*' })).toMatchObject({ policy_id: 'p' })
  for (const domain of ['payroll', 'prod.database'])
    expect(await propose(system, { domain })).toMatchObject({
      fault: 'policy_blocked',
      mapping_found: false,
    })
})

test.each([
  ['cowork_propose', {}],
  ['cowork_validate_policy', {}],
  ['cowork_handoff', { reason: 'stuck', confidence: 0.5 }],
  ['cowork_log', { action: 'a', target: 't', actor: 'agent' }],
  ['cowork_check_trust', {}],
])('Y1 %s refuses a domain that looks like another one', async (tool, more) => {
  const system = await governed()
  const asked = { action: 'a', target: 't', proposed_change: {}, confidence: 1, reasoning: 'r' }
  for (const domain of ['crm ', ' crm', 'cr\u200bm', 'crm\u0007', 'crm\u00a0deals'])
    expect(await system.call(tool, { ...asked, ...more, domain })).toMatchObject({
      fault: 'invalid_input',
      message: expect.stringMatching(
        /domain: must not begin or end with white space, nor contain invisible characters/,
      ),
    })
})
