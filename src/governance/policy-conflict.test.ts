import { expect, test } from 'vitest'
import { actingTool } from '../../test/acting.ts'
import {
  anna,
  approve,
  ben,
  decide,
  getOutcomes,
  override,
  proposed,
  sales,
  trusted,
} from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Governed } from '../../test/governed.ts'

const blocking = (...rules: object[]) => ({
  policies: [{ id: 'deals', description: 'Deals', rules }],
  mappings: [{ agent_id: '*', domain: '*', policy_id: 'deals' }],
})
const noNotes = {
  id: 'no-notes',
  field: 'note',
  constraint: 'readonly',
  reason: 'People write notes.',
}

/** Saves a policy version that blocks the pending request; returns the version. */
async function save(system: Governed, body: object): Promise<string> {
  const { version: from } = await system.call('cowork_list_policies', {}, anna)
  const { version } = await system.call(
    'cowork_save_policies',
    { body, note: 'x', from, confirm: true },
    anna,
  )
  return String(version)
}
const item = async (system: Governed, id: string) => system.governance.inbox.detail(anna, id)

test('RC4 a request that the active policy would block shows the conflict', async () => {
  const system = await governed()
  const id = await proposed(system)
  expect(await item(system, id)).not.toHaveProperty('policy_conflict')
  const version = await save(system, blocking(noNotes))
  const conflict = {
    policy: 'deals',
    version,
    rule: 'no-notes',
    message: 'note: People write notes.',
  }
  expect(await item(system, id)).toMatchObject({ policy_conflict: conflict })
  await save(system, blocking())
  expect(await item(system, id)).not.toHaveProperty('policy_conflict')
})

test('RC4 approving it requires the version that the person saw, and the entry records it', async () => {
  const system = await governed()
  const id = await proposed(system)
  const version = await save(system, blocking(noNotes))
  const refused = { fault: 'policy_conflict', hint: expect.stringContaining(version) }
  expect(await approve(system, id)).toMatchObject(refused)
  expect(await approve(system, id, { acknowledge_policy: 'another' })).toMatchObject(refused)
  expect(getOutcomes(await decide(system, [id], { hold: true }))).toMatchObject([
    { status: 'error', error: { code: 'policy_conflict' } },
  ])
  expect(await approve(system, id, { acknowledge_policy: version })).toMatchObject({
    status: 'approved',
  })
  const [entry] = await system.ledger.find({ types: ['approval.approved'], limit: 1 })
  expect(entry?.data).toMatchObject({
    policy_acknowledged: { policy: 'deals', version, rule: 'no-notes' },
  })
})

test('RC4 bulk approval reports such requests as errors; rejecting needs no acknowledgement', async () => {
  const system = await governed()
  const blocked = await proposed(system)
  const free = await proposed(system, { proposed_change: { stage: 'won' } })
  const version = await save(system, blocking(noNotes))
  const bulk = { filter_agent_id: 'sales', expected_count: 2 }
  expect(await system.call('cowork_bulk_approve', bulk, anna)).toMatchObject({
    approved: 1,
    outcomes: [{ proposal_id: free }],
    errors: [{ proposal_id: blocked, code: 'policy_conflict' }],
  })
  const other = await proposed(system, { proposed_change: { stage: 'lost' } })
  const many = await decide(system, [blocked, other], { acknowledge_policy: version })
  expect(many).toMatchObject({ fault: 'invalid_input' })
  const type = { type: 'policy_change', severity: 'low' }
  const rejected = await decide(system, [blocked], { decision: 'reject', override: type })
  expect(getOutcomes(rejected)).toMatchObject([{ status: 'rejected' }])
})

test('RC4 every person of a quorum acknowledges the policy', async () => {
  const twice = { id: 'two', field: 'note', constraint: 'high_risk', approvers: 2 }
  const system = await governed(blocking(twice))
  const id = await proposed(system)
  const version = await save(system, blocking(noNotes))
  const acknowledge = { acknowledge_policy: version }
  expect(await approve(system, id, acknowledge)).toMatchObject({ status: 'voted' })
  expect(await approve(system, id, {}, ben)).toMatchObject({ fault: 'policy_conflict' })
  expect(await approve(system, id, acknowledge, ben)).toMatchObject({ status: 'approved' })
  const [vote] = await system.ledger.find({ types: ['approval.voted'], limit: 1 })
  expect(vote?.data).toMatchObject({ policy_acknowledged: { version } })
})

test('RC4 a pending call says that it stays refused', async () => {
  const { tool } = actingTool('crm', 'write')
  const system = await governed({}, { tools: [tool] })
  const asked = await system.call('crm_write', { path: '/a' }, sales)
  const id = String(asked['approval_id'])
  const paths = { id: 'paths', field: 'path', constraint: 'enum', values: ['/b'] }
  const version = await save(system, blocking(paths))
  expect(await item(system, id)).toMatchObject({
    policy_conflict: { rule: 'paths', message: expect.stringContaining('refused when it runs') },
  })
  expect(getOutcomes(await decide(system, [id]))).toMatchObject([
    { error: { code: 'policy_conflict' } },
  ])
  await decide(system, [id], { acknowledge_policy: version })
  expect(await system.call('crm_write', { path: '/a' }, sales)).toMatchObject({
    fault: 'policy_blocked',
  })
})

test('RC5 a pending request shows the current trust, a decided one the trust of its decision', async () => {
  const system = await governed()
  await trusted(system, 0.16)
  const id = await proposed(system)
  expect(await item(system, id)).toMatchObject({
    trust_level: 0.16,
    why: { trust_level: 0.16, text: expect.stringContaining('0.16') },
    effect: { approve: { from: 0.16 } },
  })
  await override(system, 'agent_wrong')
  const now = await item(system, id)
  expect(now).toMatchObject({
    trust_level: 0.08,
    why: { trust_level: 0.08, text: expect.stringContaining('0.08') },
    effect: { approve: { from: 0.08, to: 0.1 } },
  })
  expect(now?.why.text).not.toContain('0.16')
  const { items } = await system.governance.inbox.list(anna, { status: 'pending', limit: 10 })
  expect(items).toMatchObject([{ id, trust_level: 0.08 }])
})

test('RC5 sufficient current trust is not reported as too low', async () => {
  const system = await governed()
  const id = await proposed(system)
  await trusted(system, 0.9)
  const detail = await item(system, id)
  expect(detail).toMatchObject({ trust_level: 0.9, why: { gated: false } })
  expect(detail?.why.text).toContain('Trust is 0.90 now')
})
