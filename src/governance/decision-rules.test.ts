import { describe, expect, test } from 'vitest'
import {
  anna,
  approve,
  ben,
  check,
  decide,
  getOutcomes,
  proposed,
  propose,
  sales,
  fetchTrust,
} from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Governed } from '../../test/governed.ts'

const undo = (to: Governed, ids: string[]) => to.call('cowork_undo', { approval_ids: ids }, ben)
const risky = { proposed_change: { deal_stage: 'won' } }
const statusOf = async (to: Governed, id: string) => (await to.governance.approvals.get(id))?.status

describe('bulk decisions', () => {
  test('B2 each item has its own outcome, entry and trust change; a failure does not affect the others', async () => {
    const system = await governed()
    const ids = await Promise.all(Array.from({ length: 6 }, () => proposed(system)))
    const [gone = '', twice = '', ...rest] = ids
    await approve(system, gone)
    const result = await decide(system, [...rest, gone, 'nothing', twice, twice])
    expect(result).toMatchObject({ count: 7, errors: 2 })
    const errors = getOutcomes(result).filter(({ status }) => status === 'error')
    expect(errors.map(({ id }) => id)).toEqual([gone, 'nothing'])
    expect(errors[0]).toMatchObject({
      error: { code: 'already_decided', message: expect.stringContaining('approved by anna') },
    })
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.42, approvals: 6 })
    const entries = await system.entries(['approval.approved'])
    expect(entries).toHaveLength(6)
    const call = entries.at(-1)?.ids?.call
    expect(entries.filter(({ ids: its }) => its?.call === call)).toHaveLength(5)
  })

  test('B2 one call decides a thousand items, and more are refused', async () => {
    const system = await governed({
      'authority.volume_cap': 0,
      'authority.agent_volume_cap': 0,
      'trust.auto_promote_after': 5000,
    })
    const ids = await Promise.all(Array.from({ length: 1000 }, () => proposed(system)))
    expect(await decide(system, [...ids, 'one more'])).toMatchObject({ fault: 'invalid_input' })
    expect(await decide(system, ids)).toMatchObject({ count: 1000, errors: 0 })
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 1, approvals: 1000 })
    expect(await decide(system, [])).toMatchObject({ fault: 'invalid_input' })
  })

  test('Y8 bulk approval allows no edit, no permission and no policy', async () => {
    const system = await governed()
    const ids = [await proposed(system), await proposed(system)]
    for (const more of [{ change: { a: 1 } }, { allow: { for: 'always' } }, { policy_id: 'p' }])
      expect(await decide(system, ids, more)).toMatchObject({ fault: 'invalid_input' })
    expect(await statusOf(system, ids[0] ?? '')).toBe('pending')
  })
})

describe('who decides', () => {
  test('A3 an agent cannot decide its own or other requests', async () => {
    const system = await governed()
    const id = await proposed(system)
    for (const [tool, args] of [
      ['cowork_decide', { approval_ids: [id], decision: 'approve' }],
      ['cowork_undo', { approval_ids: [id] }],
      ['cowork_approve', { proposal_id: id }],
      ['cowork_list_permissions', {}],
      ['cowork_revoke_permission', { id: 'x' }],
    ] as const)
      expect(await system.call(tool, args, sales), tool).toMatchObject({
        fault: 'human_required',
        error_type: 'HumanRequiredError',
        review_url: 'http://localhost:8765/inbox',
      })
  })

  test('I6 reviewers can decide, viewers cannot', async () => {
    const system = await governed()
    const id = await proposed(system)
    const viewer = { ...anna, role: 'viewer' } as const
    expect(await decide(system, [id], {}, viewer)).toMatchObject({ fault: 'role_required' })
    expect(await check(system, id, {}, viewer)).toMatchObject({ status: 'pending' })
    const reviewer = { ...anna, role: 'reviewer' } as const
    expect(await decide(system, [id], {}, reviewer)).toMatchObject({ errors: 0 })
  })

  test('A4 a rule requires two people: the first vote counts, the second decides', async () => {
    const system = await governed({
      policies: [{ id: 'two', rules: [{ field: 'price', constraint: 'high_risk', approvers: 2 }] }],
      mappings: [{ agent_id: '*', domain: '*', policy_id: 'two' }],
    })
    const id = await proposed(system, { proposed_change: { price: 9 } })
    expect(await approve(system, id)).toMatchObject({
      status: 'voted',
      trust_change: 0,
      message: `COUNTED: 1 of 2 approvals. Proposal ${id}`,
    })
    expect(await approve(system, id)).toMatchObject({ fault: 'quorum_same_person' })
    expect(await fetchTrust(system)).toMatchObject({ approvals: 0 })
    expect(await approve(system, id, {}, ben)).toMatchObject({
      status: 'approved',
      trust_change: 0.02,
    })
    const [entry] = await system.entries(['approval.approved'])
    expect(entry?.data).toMatchObject({ votes: ['anna', 'ben'], decided_by: 'ben' })
    const other = await proposed(system, { proposed_change: { price: 9 } })
    expect(getOutcomes(await decide(system, [other]))).toMatchObject([{ status: 'voted' }])
  })
})

describe('the undo window', () => {
  test('C2 bulk and high-risk decisions are deferred on request; others apply at once', async () => {
    const system = await governed()
    const [plain, one, two] = [
      await proposed(system),
      await proposed(system, { target: 'a' }),
      await proposed(system, { target: 'b' }),
    ]
    const high = await proposed(system, risky)
    const hold = { hold: true }
    expect(getOutcomes(await decide(system, [plain], hold))).toMatchObject([{ status: 'approved' }])
    for (const ids of [[high], [one, two]])
      for (const outcome of getOutcomes(await decide(system, ids, hold)))
        expect(outcome).toMatchObject({ status: 'held', until: expect.any(String) })
    expect(await fetchTrust(system)).toMatchObject({ approvals: 1 })
    expect(await check(system, high)).toMatchObject({ status: 'pending' })
    expect(getOutcomes(await undo(system, [high, one, plain]))).toMatchObject([
      { id: high, status: 'pending' },
      { id: one, status: 'pending' },
      { id: plain, status: 'error', error: { code: 'already_decided' } },
    ])
    expect(getOutcomes(await decide(system, [high]))).toMatchObject([{ status: 'approved' }])
  })

  test('C2 a released decision has the same trust, entry and person', async () => {
    const system = await governed({ 'approvals.undo_hold': '30ms' })
    const id = await proposed(system, risky)
    const rejection = {
      decision: 'reject',
      reason: 'not yet',
      hold: true,
      override: { type: 'agent_wrong', severity: 'high', description: 'too soon' },
    }
    expect(getOutcomes(await decide(system, [id], rejection))).toMatchObject([{ status: 'held' }])
    await expect.poll(() => statusOf(system, id)).toBe('rejected')
    const [entry] = await system.entries(['approval.rejected'])
    expect(entry).toMatchObject({
      actor: { kind: 'human', id: 'anna' },
      data: {
        decided_by: 'anna',
        reason: 'not yet',
        override: { type: 'agent_wrong', severity: 'high' },
        trust: { from: 0.3, to: 0.18 },
      },
    })
  })

  test('B4 a rejection without a type is not deferred either', async () => {
    const system = await governed()
    const id = await proposed(system, risky)
    const reply = await decide(system, [id], { decision: 'reject', hold: true })
    expect(getOutcomes(reply)).toMatchObject([
      { status: 'error', error: { code: 'override_needed' } },
    ])
    expect((await system.governance.approvals.get(id))?.deferred).toBeUndefined()
  })
})

describe('editing', () => {
  test('B3 the edited change is approved, and the agent reads it', async () => {
    const system = await governed()
    const id = await proposed(system)
    const asked = (await system.governance.approvals.get(id))?.digest
    await decide(system, [id], { change: '{"note": "write instead"}', reason: 'They prefer mail' })
    expect(await check(system, id)).toMatchObject({
      status: 'approved',
      approved_change: { note: 'write instead' },
      collaborative: true,
      feedback: 'They prefer mail',
    })
    const [entry] = await system.entries(['approval.approved'])
    expect(entry?.data).toMatchObject({ collaborative: true, asked_digest: asked })
    expect(entry?.data?.['digest']).not.toBe(asked)
    const edited = await proposed(system, { proposed_change: { note: 'write instead' } })
    expect((await system.governance.approvals.get(edited))?.digest).toBe(entry?.data?.['digest'])
  })

  test('B3 an edit without a digest is refused, and nothing is decided', async () => {
    const system = await governed()
    const id = await proposed(system)
    const reply = await decide(system, [id], { change: { note: 'half \ud83d' } })
    expect(getOutcomes(reply)).toMatchObject([
      { status: 'error', error: { code: 'invalid_input' } },
    ])
    expect(await statusOf(system, id)).toBe('pending')
  })
})

describe('the reason for an approval', () => {
  const why = async (to: Governed, more: object = {}) => {
    const { approval_id: asked, proposal_id: id = asked } = await propose(to, more)
    return (await to.governance.inbox.detail(anna, String(id)))?.why
  }
  const careful = {
    policies: [
      {
        id: 'careful',
        description: 'Deals',
        rules: [
          { id: 'risky', field: 'price', constraint: 'high_risk', reason: 'Ask finance.' },
          { id: 'pair', field: 'size', constraint: 'high_risk', approvers: 2 },
          {
            id: 'soft',
            field: 'hue',
            constraint: 'enum',
            values: ['red'],
            severity: 'warn',
            approvers: 2,
          },
        ],
      },
    ],
    mappings: [{ agent_id: 'sales', domain: 'crm', policy_id: 'careful' }],
  }

  test.each([
    [{}, {}, /^You are asked because trust is low: 0\.30, below 0\.50\..* 0\.80/],
    [{ 'trust.default_level': 0.6 }, {}, /because trust is 0\.60; acting alone needs 0\.80/],
    [
      { 'trust.default_level': 0.9 },
      {},
      /needs 25 more correct actions of this risk\. Trust \(0\.90\) is high enough/,
    ],
    [{}, risky, /because deal_stage is high risk\. Trust is 0\.30; acting alone needs 0\.80/],
    [{}, { proposed_change: { owner: 1, password: 2 } }, /owner and 1 more are high risk/],
    [careful, { proposed_change: { price: 3 } }, /price is high risk in careful/],
    [careful, { proposed_change: { hue: 'blue' } }, /careful requires 2 approvals/],
    [careful, { domain: 'hr' }, /no mapping covers sales in hr/],
  ])(
    'A8 it names the rule, the policy or trust against its threshold',
    async (settings, more, text) => {
      expect((await why(await governed(settings), more))?.text).toMatch(text)
    },
  )

  test('A8 it contains the matched rules, the policy and its version', async () => {
    const system = await governed(careful)
    expect(await why(system, { proposed_change: { price: 3 } })).toMatchObject({
      rules: [{ rule_id: 'risky', field: 'price', severity: 'warn', reason: 'Ask finance.' }],
      policy_id: 'careful',
      policy_description: 'Deals',
      policy_version: system.governance.policies().version,
      trust_level: 0.3,
      thresholds: { suggest: 0.5, act: 0.8 },
      evidence_level: 0,
      gated: false,
      high_risk_fields: ['price'],
    })
  })
})
