import { expect, test } from 'vitest'
import { anna, approve, proposed, sales, support, trusted } from '../../../test/acts.ts'
import { governed } from '../../../test/governed.ts'
import type { Governed, Said } from '../../../test/governed.ts'

const log = (to: Governed, more: object = {}, by = sales) =>
  to.call('cowork_log', { domain: 'crm', action: 'update_deal', target: 'deal-1', ...more }, by)
const found = async (to: Governed) => {
  const { findings } = await to.call('cowork_governance_report', {}, anna)
  return (findings as Said[]).map(({ kind, agent_id: agent, count }) => [kind, agent, count])
}
const trail = (to: Governed, id: string) => to.call('cowork_audit_trail', { proposal_id: id }, anna)

test('G1 G2 an agent cannot log under a proposal of another agent', async () => {
  const system = await governed()
  const theirs = await proposed(system)
  await approve(system, theirs)
  expect(await log(system, { proposal_id: theirs }, support)).toMatchObject({
    fault: 'not_found',
    message: `Not found: proposal "${theirs}" of support.`,
    hint: expect.stringContaining('cowork_propose'),
  })
  expect(await system.entries(['action.logged'])).toEqual([])
  expect(await log(system, { proposal_id: theirs })).toMatchObject({ proposal_id: theirs })
  // A person may have done it for the agent.
  expect(await log(system, { proposal_id: theirs, actor: 'human' }, anna)).toMatchObject({
    actor: 'human',
  })
  expect(await found(system)).toEqual([])
})

test.each([{ action: 'delete_all' }, { target: 'everything' }, { domain: 'erp' }])(
  'G2 G3 an action that differs in %j from the approval is logged, found and shown in the trail',
  async (other) => {
    const system = await governed()
    const id = await proposed(system)
    await approve(system, id)
    expect(await log(system, { proposal_id: id, ...other })).toMatchObject({ phase: 'execute' })
    expect(await found(system)).toEqual([['different_execution', 'sales', 1]])
    expect(await trail(system, id)).toMatchObject({
      in_order: false,
      missing: ['execute', 'verify'],
      chain: [{ step: 'propose' }, { step: 'approve' }, { step: 'something_else' }],
      message: expect.stringContaining('OUT OF ORDER'),
    })
  },
)

test('G3 it is also found under an approval by trust, after more severe findings', async () => {
  const system = await governed()
  const waiting = await proposed(system)
  await log(system, { proposal_id: waiting, target: 'everything' })
  expect(await found(system)).toEqual([['missing_approval', 'sales', 1]])
  await trusted(system, 0.9)
  await log(system, { proposal_id: await proposed(system), action: 'delete_all' })
  expect(await found(system)).toEqual([
    ['missing_approval', 'sales', 1],
    ['different_execution', 'sales', 1],
  ])
})
