import { describe, expect, test } from 'vitest'
import {
  approve,
  ben,
  decide,
  earn,
  getOutcomes,
  override,
  proposal,
  proposed,
  trusted,
  fetchTrust,
} from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'

describe('approving', () => {
  test('T3 an approval adds 0.02 and reports it; a second one is refused as decided', async () => {
    const system = await governed()
    const id = await proposed(system)
    expect(await approve(system, id, { feedback: 'good' })).toEqual({
      proposal_id: id,
      status: 'approved',
      agent_id: 'sales',
      domain: 'crm',
      trust_level: 0.32,
      trust_change: 0.02,
      promoted: false,
      verified: true,
      decided_by: 'anna',
      message: `APPROVED: Proposal ${id}. Trust 0.32`,
    })
    for (const unknown of [id, 'nothing'])
      expect(await approve(system, unknown, {}, ben)).toMatchObject({
        fault: 'already_decided',
        message: expect.stringMatching(/^not found or already decided/),
      })
    expect(await approve(system, id, {}, ben)).toMatchObject({ decided_by: 'anna' })
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.32, approvals: 1 })
  })

  test('T3 trust is at most 1, and an approval resets consecutive overrides', async () => {
    const system = await governed()
    const ids = [await proposed(system), await proposed(system)]
    await override(system, 'edge_case')
    expect(await fetchTrust(system)).toMatchObject({ consecutive_overrides: 1 })
    await trusted(system, 0.99)
    expect(await approve(system, ids[0] ?? '')).toMatchObject({
      trust_level: 1,
      trust_change: 0.01,
    })
    expect(await fetchTrust(system)).toMatchObject({ consecutive_overrides: 0 })
  })

  test('T7 the 20th approval promotes to 0.8, once', async () => {
    const system = await governed({ 'trust.auto_promote_after': 20 })
    expect(await earn(system, 19)).toMatchObject({ promoted: false, trust_level: 0.68 })
    const result = await earn(system, 1)
    expect(result).toMatchObject({ promoted: true, trust_level: 0.8, trust_change: 0.12 })
    expect(result['message']).toContain('PROMOTED')
    const entry = (await system.entries(['approval.approved'])).at(-1)
    expect(entry?.data?.['trust']).toEqual({ from: 0.68, to: 0.8, promoted: true })
    expect(await earn(system, 1)).toMatchObject({ promoted: false, trust_level: 0.82 })
  })

  test('T7 too many overrides prevent the promotion', async () => {
    const system = await governed({ 'trust.auto_promote_after': 4, 'trust.auto_demote_after': 9 })
    await earn(system, 3)
    await override(system, 'agent_wrong')
    await override(system, 'human_preference')
    expect(await earn(system, 1)).toMatchObject({ promoted: true })
    const strict = await governed({ 'trust.auto_promote_after': 4 })
    await earn(strict, 3)
    await override(strict, 'edge_case')
    await override(strict, 'edge_case')
    expect(await earn(strict, 1)).toMatchObject({ promoted: false })
  })
})

describe('overriding', () => {
  test('T5 a correction after the fact needs no proposal', async () => {
    const system = await governed()
    expect(await override(system, 'agent_wrong', { severity: 'high' })).toEqual({
      override_id: expect.any(String),
      agent_id: 'sales',
      domain: 'crm',
      trust_level: 0.18,
      trust_change: -0.12,
      demoted: false,
      consecutive_overrides: 1,
      verified: true,
      message: 'OVERRIDDEN: agent_wrong/high. Trust 0.30 → 0.18',
    })
    const [entry] = await system.entries(['override.recorded'])
    expect(entry).toMatchObject({
      actor: { id: 'anna' },
      subject: 'sales',
      data: { override: { type: 'agent_wrong', severity: 'high' }, trust: { from: 0.3, to: 0.18 } },
    })
    expect(await system.rows('overrides')).toMatchObject([
      { agent_id: 'sales', proposal_id: null, trust_change: -0.12, decided_by: 'anna' },
    ])
  })

  test('B4 an override of a pending proposal rejects it with severity medium', async () => {
    const system = await governed()
    const id = await proposed(system)
    expect(await override(system, 'agent_wrong', { proposal_id: id })).toMatchObject({
      proposal_id: id,
      trust_level: 0.22,
    })
    expect(await system.governance.approvals.get(id)).toMatchObject({
      status: 'rejected',
      reason: 'It was the other one.',
    })
    expect(await system.entries(['override.recorded'])).toEqual([])
    const [entry] = await system.entries(['approval.rejected'])
    expect(entry?.data).toMatchObject({
      override: { type: 'agent_wrong', severity: 'medium' },
      trust: { from: 0.3, to: 0.22 },
    })
    expect(await override(system, 'agent_wrong', { proposal_id: id })).toMatchObject({
      fault: 'already_decided',
    })
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.22, overrides: 1 })
  })

  test('T5 approvals by trust or a person can be overridden afterwards', async () => {
    const system = await governed()
    await trusted(system, 0.9)
    const auto = await proposed(system)
    expect(await override(system, 'edge_case', { proposal_id: auto })).toMatchObject({
      proposal_id: auto,
      trust_level: 0.88,
    })
    const [entry] = await system.entries(['override.recorded'])
    expect(entry).toMatchObject({ ids: { proposal: auto }, subject: 'deal-1' })
    expect(await system.governance.approvals.get(auto)).toMatchObject({ status: 'approved' })
  })

  test('B4 a rejection without an override type is refused and changes nothing', async () => {
    const system = await governed()
    const id = await proposed(system)
    const reply = await decide(system, [id], { decision: 'reject' })
    expect(getOutcomes(reply)).toMatchObject([
      { status: 'error', error: { code: 'override_needed' } },
    ])
    expect(reply).toMatchObject({ count: 1, errors: 1 })
    const typed = { decision: 'reject', override: { type: 'missing_context' } }
    expect(getOutcomes(await decide(system, [id], typed))).toEqual([
      { id, status: 'rejected', trust: { from: 0.3, to: 0.27 } },
    ])
  })

  test('T6 the third consecutive override demotes once and resets the count', async () => {
    const system = await governed()
    await trusted(system, 0.9)
    await override(system, 'edge_case')
    expect(await override(system, 'edge_case')).toMatchObject({
      demoted: false,
      consecutive_overrides: 2,
      trust_level: 0.86,
    })
    const third = await override(system, 'edge_case')
    expect(third).toMatchObject({ demoted: true, consecutive_overrides: 0, trust_level: 0.74 })
    expect(third['message']).toContain('DEMOTED')
    const entry = (await system.entries(['override.recorded'])).at(-1)
    expect(entry?.data?.['trust']).toEqual({ from: 0.86, to: 0.74, demoted: true })
    expect(await override(system, 'edge_case')).toMatchObject({
      demoted: false,
      consecutive_overrides: 1,
    })
  })

  test('T5 an override without agent fault neither counts nor resets', async () => {
    const system = await governed()
    await override(system, 'edge_case')
    await override(system, 'edge_case')
    for (const type of ['policy_change', 'human_preference', 'policy_change'])
      expect(await override(system, type)).toMatchObject({
        demoted: false,
        consecutive_overrides: 2,
      })
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.25, overrides: 2, accuracy: 0 })
    expect(await override(system, 'edge_case')).toMatchObject({ demoted: true })
  })

  test('B1 agent and domain come from the proposal, and a mismatch is an error', async () => {
    const system = await governed()
    const id = await proposed(system)
    for (const other of [{ agent_id: 'support' }, { domain: 'hr' }]) {
      const mismatch = { fault: 'proposal_mismatch' }
      expect(await approve(system, id, other)).toMatchObject(mismatch)
      const more = { proposal_id: id, ...other }
      expect(await override(system, 'edge_case', more)).toMatchObject(mismatch)
    }
    expect(await system.governance.approvals.get(id)).toMatchObject({ status: 'pending' })
    expect(await approve(system, id, { agent_id: 'sales', domain: 'crm' })).toMatchObject({
      trust_change: 0.02,
    })
  })

  test('B1 approvals of other kinds are not proposals', async () => {
    const system = await governed({
      policies: [{ id: 'p' }],
      mappings: [{ agent_id: 'sales', domain: 'crm', policy_id: 'p' }],
    })
    const asked = await system.call('cowork_propose', proposal({ domain: 'hr' }))
    expect(await approve(system, String(asked['approval_id']))).toMatchObject({
      fault: 'already_decided',
    })
  })
})
