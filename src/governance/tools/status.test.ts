import { describe, expect, test } from 'vitest'
import { anna, approve, override, proposed, sales, support, trusted } from '../../../test/acts.ts'
import { governed } from '../../../test/governed.ts'
import type { Governed, Said } from '../../../test/governed.ts'

const log = (to: Governed, more: object = {}, by = sales) =>
  to.call('cowork_log', { domain: 'crm', action: 'update_deal', target: 'deal-1', ...more }, by)
const trail = (to: Governed, id: string, by = sales) =>
  to.call('cowork_audit_trail', { proposal_id: id }, by)
const steps = (result: Said) => (result['chain'] as Said[]).map(({ step, actor }) => [step, actor])

describe('attribution', () => {
  test('G1 an action is logged with who acted, its phase and its proposal', async () => {
    const system = await governed()
    const reply = await log(system, { actor: 'collaborative', proposal_id: 'p-1', phase: 'verify' })
    expect(reply).toMatchObject({
      action_id: expect.any(String),
      actor: 'collaborative',
      phase: 'verify',
      message: expect.stringMatching(/^LOGGED: update_deal on deal-1 \(collaborative, verify\)/),
    })
    expect(await log(system)).toMatchObject({ actor: 'agent', phase: 'execute' })
    const [entry] = await system.entries(['action.logged'])
    expect(entry).toMatchObject({
      actor: { id: 'sales' },
      domain: 'crm',
      subject: 'deal-1',
      ids: { proposal: 'p-1' },
      data: { action: 'update_deal', actor: 'collaborative', phase: 'verify' },
    })
    for (const wrong of [{ actor: 'nobody' }, { phase: 'plan' }, { domain: '' }])
      expect(await log(system, wrong)).toMatchObject({ fault: 'invalid_input' })
  })

  test('G2 the trail contains proposal, approval, execution and verification', async () => {
    const system = await governed()
    const id = await proposed(system)
    expect(await trail(system, id)).toMatchObject({
      missing: ['approve', 'execute', 'verify'],
      in_order: true,
    })
    await approve(system, id)
    await log(system, { proposal_id: id })
    await log(system, { proposal_id: id, phase: 'verify' })
    const reply = await trail(system, id)
    expect(reply).toMatchObject({ missing: [], in_order: true })
    expect(steps(reply)).toEqual([
      ['propose', 'sales'],
      ['approve', 'anna'],
      ['execute', 'sales'],
      ['verify', 'sales'],
    ])
    expect(steps(await trail(system, id, anna))).toHaveLength(4)
    expect(steps(await trail(system, id, support))).toEqual([])
  })

  test('G2 an action before its approval is out of order', async () => {
    const system = await governed()
    const id = await proposed(system)
    await log(system, { proposal_id: id })
    await approve(system, id)
    const reply = await trail(system, id)
    expect(reply).toMatchObject({ in_order: false, missing: ['verify'] })
    expect(reply['message']).toContain('OUT OF ORDER')
  })

  test('G2 an approval by trust is attributed to trust, and a rejection approves nothing', async () => {
    const system = await governed()
    await trusted(system, 0.9)
    const auto = await proposed(system)
    await log(system, { proposal_id: auto })
    expect(steps(await trail(system, auto))).toEqual([
      ['propose', 'sales'],
      ['approve', 'trust'],
      ['execute', 'sales'],
    ])
    await trusted(system, 0.5)
    const rejected = await proposed(system)
    await override(system, 'edge_case', { proposal_id: rejected })
    expect(await trail(system, rejected)).toMatchObject({
      missing: ['approve', 'execute', 'verify'],
    })
  })
})

describe('cowork_status', () => {
  const status = (to: Governed, args: object = {}, by = sales) => to.call('cowork_status', args, by)
  const pendingOf = (reply: Said) => (reply['pending_proposals'] as Said[]).map(({ id }) => id)
  const pairsOf = (reply: Said) =>
    (reply['trust'] as Said[]).map(
      ({ agent_id, domain }) => `${String(agent_id)} ${String(domain)}`,
    )

  test('G4 an agent sees its own trust and pending requests, people see all', async () => {
    const system = await governed()
    const own = await proposed(system)
    const hr = await proposed(system, { domain: 'hr' })
    const other = await proposed(system, {}, support)
    const mine = await status(system, { agent_id: 'support' })
    expect(pairsOf(mine)).toEqual(['sales crm', 'sales hr'])
    expect(pendingOf(mine)).toEqual([own, hr])
    expect(mine).toMatchObject({ pending: 2, caller: { kind: 'agent', id: 'sales' } })
    const all = await status(system, {}, anna)
    expect(pairsOf(all)).toEqual(['sales crm', 'sales hr', 'support crm'])
    expect(pendingOf(all)).toEqual([own, hr, other])
    const some = await status(system, { agent_id: 'sales', domain: 'hr' }, anna)
    expect(pairsOf(some)).toEqual(['sales hr'])
    expect(pendingOf(some)).toEqual([hr])
  })

  test('G4 it contains trust, rates and, on request, a timeline', async () => {
    const system = await governed()
    await approve(system, await proposed(system))
    await override(system, 'edge_case')
    expect(await status(system)).toMatchObject({
      trust: [
        { trust_level: 0.3, mode: 'escalate', approvals: 1, overrides: 1, override_rate: 0.5 },
      ],
      pending: 0,
    })
    expect(await status(system)).not.toHaveProperty('timeline')
    const reply = await status(system, { include_timeline: true, timeline_limit: 3 }, anna)
    expect(reply['timeline']).toHaveLength(3)
    const own = await status(system, { include_timeline: true }, support)
    expect(JSON.stringify(own['timeline'])).not.toContain('sales')
  })
})
