import { expect, test } from 'vitest'
import { actingTool, storingTool } from '../../test/acting.ts'
import {
  anna,
  approve,
  decide,
  getOutcomes,
  override,
  propose,
  proposed,
  sales,
  trusted,
} from '../../test/acts.ts'
import { agentCaller } from '../../test/governance.ts'
import { governed } from '../../test/governed.ts'
import type { More, Settings } from '../../test/governed.ts'

const by = { id: 'call-1', caller: anna }

async function setup(settings: Settings = {}, more: Pick<More, 'runs'> = {}) {
  const { tool, runs } = actingTool('crm', 'write')
  const system = await governed(settings, { tools: [tool, storingTool('crm')], ...more })
  const { db, identity, call } = system
  return {
    ...system,
    runs,
    /** Adds the agent and authenticates with its token. */
    async add(id = 'sales') {
      system.move(1)
      const { token } = await db.transact((tx) => identity.addAgent(tx, { id }, by))
      return identity.identify({ door: 'mcp', address: 'here', bearer: token })
    },
    revoke: (id = 'sales') => db.transact((tx) => identity.revokeAgent(tx, { id }, by)),
    /** Returns the id of the approval of a pending call. */
    asked: async (caller = sales, path = '/a', tool = 'crm_write') =>
      String((await call(tool, { path }, caller))['approval_id']),
  }
}

test.each(['crm_write', 'crm_store'])(
  'I4 A2 a pending %s of a revoked agent is refused and recorded',
  async (tool) => {
    // The runner would also try the approved call and be refused.
    const system = await setup({}, { runs: false })
    const { asked, resume, add } = system
    const nobody = { ...agentCaller('cursor'), verified: false }
    const id = await asked(nobody, '/a', tool)
    expect(getOutcomes(await decide(system, [id]))).toMatchObject([{ status: 'approved' }])
    await add('first')
    expect(await resume(tool, { path: '/a' }, nobody, id)).toMatchObject({
      status: 'refused',
      code: 'auth_error',
      details: { auth_error: true },
    })
    expect(system.runs).toEqual([])
    expect(await system.entries(['thing.stored', 'call.started'])).toEqual([])
    await expect
      .poll(() => system.entries(['call.refused']))
      .toMatchObject([{ outcome: 'auth_error', actor: { id: 'cursor' }, ids: { approval: id } }])
  },
)

test('I4 A2 a call of an agent that was revoked and added again does not resume', async () => {
  const system = await setup()
  const { asked, resume, add, revoke } = system
  const before = await add()
  const id = await asked(before)
  await decide(system, [id])
  await revoke()
  expect(await resume('crm_write', { path: '/a' }, before, id)).toMatchObject({
    code: 'auth_error',
  })
  const after = await add()
  expect(await resume('crm_write', { path: '/a' }, before, id)).toMatchObject({
    code: 'auth_error',
  })
  expect(await resume('crm_write', { path: '/a' }, after, id)).toMatchObject({ code: 'not_found' })
  expect(system.runs).toEqual([])
  const own = await asked(after)
  await decide(system, [own])
  expect(await resume('crm_write', { path: '/a' }, after, own)).toMatchObject({ status: 'done' })
})

test('I4 A2 approving a request of a revoked agent fails, and rejecting works', async () => {
  const system = await setup({ 'approvals.undo_hold': '300ms' })
  const nobody = { ...agentCaller('cursor'), verified: false }
  const id = await system.asked(nobody)
  const held = [await system.asked(nobody, '/b'), await system.asked(nobody, '/c')]
  expect(await decide(system, held, { hold: true })).toMatchObject({ errors: 0 })
  await system.add('first')
  expect(getOutcomes(await decide(system, [id]))).toMatchObject([
    { error: { code: 'agent_revoked', message: expect.stringContaining('cursor') } },
  ])
  // A deferred decision is not applied either: it returns to the inbox with the reason.
  await expect
    .poll(() => system.entries(['approval.undone']), { timeout: 5000 })
    .toMatchObject(held.map(() => ({ data: { why: expect.stringContaining('revoked') } })))
  expect(await decide(system, [id, ...held], { decision: 'reject' })).toMatchObject({ errors: 0 })
})

test('I4 Y8 revoking an agent ends each of its permissions with an entry', async () => {
  const policies = [{ id: 'p', rules: [] }]
  const mappings = [{ agent_id: 'other', domain: 'crm', policy_id: 'p' }]
  const system = await setup({ policies, mappings })
  const before = await system.add()
  const domain = await propose(system, {}, before)
  const { approval_id: asked } = domain
  expect(domain).toMatchObject({ fault: 'policy_blocked' })
  const { outcomes } = await system.call(
    'cowork_decide',
    { approval_ids: [asked], decision: 'approve', policy_id: 'p' },
    anna,
  )
  expect(outcomes).toMatchObject([{ status: 'approved' }])
  const always = await system.asked(before)
  await decide(system, [always], { allow: { for: 'always' } })
  expect(await system.call('crm_write', { path: '/a' }, before)).toMatchObject({ done: '/a' })
  const waits = await propose(system, { domain: 'hr' }, before)
  await system.revoke()
  const ended = await system.entries(['permission.revoked'])
  expect(ended).toMatchObject([
    { actor: { id: anna.id }, ids: { call: by.id }, data: { permission: expect.any(String) } },
    { data: { mapping: { agent_id: 'sales', domain: 'crm', policy_id: 'p' } } },
  ])
  for (const { data } of ended) expect(data).toMatchObject({ reason: 'agent_revoked' })
  expect(await system.entries(['approval.withdrawn'])).toMatchObject([
    { ids: { approval: waits['approval_id'] } },
  ])
  const after = await system.add()
  const { approval_id: anew } = await propose(system, {}, after)
  expect(anew).toEqual(expect.any(String))
  expect(anew).not.toBe(asked)
  expect(await system.call('crm_write', { path: '/a' }, after)).toMatchObject({
    fault: 'approval_required',
  })
})

test('R2 a later agent with the same name cannot cite calls of its predecessor', async () => {
  const system = await setup()
  const cited = async (seq: number | undefined, caller = sales) => {
    const criteria = { fact: { value: 1, source: `ledger:${seq}` } }
    const result = await propose(system, { reasoning_schema: { criteria } }, caller)
    return result['unverified_sources']
  }
  const before = await system.add()
  await propose(system, {}, before)
  const [own] = await system.entries(['proposal.created'])
  expect(await cited(own?.seq, before)).toEqual([])
  await system.revoke()
  expect(await cited(own?.seq, await system.add())).toEqual([`ledger:${own?.seq}`])
})

test('Y4 I4 a later agent with the same name must request domains again', async () => {
  const policies = [{ id: 'p', rules: [] }]
  const mappings = [{ agent_id: 'other', domain: 'crm', policy_id: 'p' }]
  const system = await setup({ policies, mappings })
  const { approval_id: before } = await propose(system, {}, { ...sales, verified: false })
  const added = await system.add()
  const { approval_id: asked } = await propose(system, {}, added)
  expect(asked).not.toBe(before)
  expect(await propose(system, {}, added)).toMatchObject({ approval_id: asked })
  const letIn = async (id: unknown) =>
    getOutcomes(await decide(system, [String(id)], { policy_id: 'p' }))
  expect(await letIn(before)).toMatchObject([{ error: { code: 'agent_revoked' } }])
  expect(await letIn(asked)).toMatchObject([{ status: 'approved' }])
})

test('Y4 I4 a later agent does not inherit domains of an unverified agent of that name', async () => {
  const policies = [{ id: 'p', rules: [] }]
  const mappings = [{ agent_id: 'other', domain: 'crm', policy_id: 'p' }]
  const system = await setup({ policies, mappings })
  const before = { ...sales, verified: false }
  const { approval_id: asked } = await propose(system, {}, before)
  await decide(system, [String(asked)], { policy_id: 'p' })
  const again = await propose(system, {}, before)
  const added = await propose(system, {}, await system.add())
  expect(again).toHaveProperty('proposal_id')
  expect(added).not.toHaveProperty('proposal_id')
})

test('T11 T16 I4 a later agent with the same name has the strikes of its predecessor, not its credit', async () => {
  const system = await setup({ 'authority.volume_cap': 0 })
  const before = await system.add()
  for (let n = 0; n < 25; n++) await approve(system, await proposed(system, {}, before))
  expect(await propose(system, {}, before)).toMatchObject({ mode: 'act' })
  const left = await proposed(system, { action: 'send_offer' }, before)
  await trusted(system, 0.9, 'sales', 'mail')
  await override(system, 'agent_wrong', { domain: 'files' })
  await system.revoke()
  const after = await system.add()
  expect(await propose(system, {}, after)).toMatchObject({ mode: 'suggest', to_go: 25 })
  expect(await propose(system, { domain: 'mail' }, after)).toMatchObject({ mode: 'suggest' })
  await approve(system, left)
  expect(await system.rows('trust')).toMatchObject([
    { domain: 'crm', normal_credit: 0, approvals: 26 },
    { domain: 'mail', vouched: 0 },
    { domain: 'files', normal_strikes: 1, normal_credit: -50 },
  ])
  expect(await system.verify()).toMatchObject({ ok: true, problems: [] })
})
