import { describe, expect, test } from 'vitest'
import { anna, check, proposal, propose, sales, support, trusted } from '../../test/acts.ts'
import { governed, openGoverned, sqliteStore } from '../../test/governed.ts'

const day = 24 * 60 * 60 * 1000

describe('replies', () => {
  test('RM9 P1 a proposal with a missing field is refused and stores nothing', async () => {
    const system = await governed()
    const required = [
      'domain',
      'action',
      'target',
      'proposed_change',
      'confidence',
      'reasoning',
    ] as const
    for (const wrong of [
      ...required.map((name) => ({ [name]: undefined })),
      { reasoning: 7 },
      { reasoning_schema: 'free text' },
      { handoff_id: 7 },
      { idempotency_key: '' },
      { confidence: 1.1 },
      { confidence: 'high' },
      { domain: '' },
      { domain: 'x\0' },
      { target: undefined },
      { action: 'half \ud83d' },
      { proposed_change: undefined },
      { proposed_change: 7 },
      { proposed_change: { text: 'half \ud83d' } },
    ])
      expect(await propose(system, wrong), JSON.stringify(wrong)).toMatchObject({
        fault: 'invalid_input',
      })
    expect(await system.rows('approval')).toEqual([])
    expect(await system.call('cowork_propose', proposal(), anna)).toMatchObject({
      fault: 'agent_required',
    })
  })

  test('RM9 P1 a change can be an object or JSON text, and every optional field is accepted', async () => {
    const system = await governed()
    const key = 'once'
    const more = { agent_id: 'sales', field: 'note', idempotency_key: key }
    const first = await propose(system, { proposed_change: '{"note":"call back"}', ...more })
    expect(first).toMatchObject({ status: 'pending' })
    const again = await propose(system, { proposed_change: { note: 'call back' }, ...more })
    expect(again['proposal_id']).toBe(first['proposal_id'])
    expect(await system.rows('approval')).toHaveLength(1)
  })

  test('P2 the reply has all fields and the review URL', async () => {
    const system = await governed()
    const result = await propose(system)
    expect(result).toEqual({
      proposal_id: expect.any(String),
      action_id: expect.any(String),
      mode: 'escalate',
      status: 'pending',
      trust_level: 0.3,
      confidence: 0.9,
      high_risk_field: false,
      policy_warnings: 0,
      policy_id: null,
      policy_description: null,
      policy_rules_checked: 0,
      rules_matched: 0,
      mapping_found: false,
      volume_cap: 50,
      volume_remaining: 49,
      evidence_level: 0,
      gated: false,
      message: `ESCALATED: Trust (0.30) too low. Proposal ${String(result['proposal_id'])}`,
      next: expect.stringMatching(
        /^NOT APPROVED YET\. Do not carry out the action, not even with other tools\./,
      ),
      review_url: `http://localhost:8765/inbox/${String(result['proposal_id'])}`,
    })
    const [entry] = await system.entries(['proposal.created'])
    expect(entry).toMatchObject({
      actor: { kind: 'agent', id: 'sales' },
      domain: 'crm',
      subject: 'deal-1',
      outcome: 'escalate',
      ids: { proposal: result['proposal_id'], approval: result['proposal_id'] },
      data: { tool: 'cowork_propose', effect: 'write' },
    })
    // It also records the call.
    expect(await system.entries(['call.'])).toEqual([])
  })

  test.each([
    [0.3, 'escalate', /^ESCALATED: Trust \(0\.30\) too low\. Proposal [\w-]+$/],
    [0.6, 'suggest', /^AWAITING REVIEW: Proposal [\w-]+$/],
    [0.85, 'act', /^AUTO-APPROVED: Trust \(0\.85\) sufficient\.$/],
  ])('P4 at %d the message starts as in the COWORK protocol: %s', async (score, mode, message) => {
    const system = await governed()
    await trusted(system, score)
    const reply = await propose(system)
    expect(reply).toMatchObject({ mode, message: expect.stringMatching(message) })
    expect(reply['review_url'] === undefined).toBe(mode === 'act')
    const { text } = system.catalogue.find('cowork_propose') ?? {}
    if (mode !== 'act') expect(text?.(reply)).toContain(`${String(reply['review_url'])}`)
  })

  test.each([
    ['{"a":1}', { a: 1 }],
    ['[1]', [1]],
    ['not json', { raw: 'not json' }],
    ['7', { raw: 7 }],
    ['', { raw: '' }],
    [{ a: [1] }, { a: [1] }],
  ])('P3 the change %j is stored as %j', async (given, kept) => {
    const system = await governed()
    const { proposal_id: id } = await propose(system, { proposed_change: given })
    expect((await system.governance.approvals.get(String(id)))?.content.change).toEqual(kept)
  })

  test('P5 an approval by trust is marked and is not a human approval', async () => {
    const system = await governed()
    await trusted(system, 0.85)
    const { proposal_id: id, status } = await propose(system)
    expect(status).toBe('approved')
    expect(await check(system, id)).toMatchObject({
      status: 'approved',
      decided_by: 'trust',
    })
    const [entry] = await system.entries(['proposal.created'])
    expect(entry?.data).toMatchObject({ auto: true, mode: 'act' })
    expect(await system.call('cowork_check_trust', { domain: 'crm' })).toMatchObject({
      trust_level: 0.85,
      approvals: 0,
    })
    expect(await system.call('cowork_approve', { proposal_id: id }, anna)).toMatchObject({
      fault: 'already_decided',
    })
  })
})

describe('idempotency_key', () => {
  test('P6 the same proposal under one key is one proposal', async () => {
    const system = await governed()
    const key = { idempotency_key: 'k1' }
    const first = await propose(system, key)
    const [again, atOnce] = await Promise.all([propose(system, key), propose(system, key)])
    for (const reply of [again, atOnce])
      expect(reply).toMatchObject({ proposal_id: first['proposal_id'], volume_remaining: 49 })
    expect(await system.rows('approval')).toHaveLength(1)
    await system.call('cowork_approve', { proposal_id: first['proposal_id'] }, anna)
    expect(await propose(system, key)).toMatchObject({ status: 'approved' })
  })

  test('P6 another body with the same key is an error; each agent has its own keys', async () => {
    const system = await governed()
    const key = { idempotency_key: 'k1' }
    await propose(system, key)
    for (const other of [{ target: 'deal-2' }, { confidence: 0.1 }, { domain: 'hr' }])
      expect(await propose(system, { ...key, ...other })).toMatchObject({
        fault: 'idempotency_conflict',
      })
    expect(await propose(system, key, support)).not.toHaveProperty('fault')
    expect(await system.rows('approval')).toHaveLength(2)
  })
})

describe('pending proposals', () => {
  test('P7 a proposal expires after 7 days and is rejected', async () => {
    const system = await governed()
    const { proposal_id: id } = await propose(system)
    system.move(7 * day - 60_000)
    expect(await check(system, id)).toMatchObject({ status: 'pending' })
    system.move(60_000)
    expect(await check(system, id)).toMatchObject({
      status: 'expired',
      message: expect.stringContaining('so it is rejected'),
    })
    expect(await system.call('cowork_approve', { proposal_id: id }, anna)).toMatchObject({
      fault: expect.stringMatching(/approval_expired|already_decided/),
    })
    expect(await system.rows('trust_point')).toEqual([])
  })

  test('P8 its agent and people can read the outcome, and other agents cannot see it', async () => {
    const system = await governed()
    const { proposal_id: id } = await propose(system)
    for (const name of ['proposal_id', 'approval_id', 'request_id'])
      expect(await system.call('cowork_check_approval', { [name]: id })).toMatchObject({
        approval_id: id,
        status: 'pending',
        decided_by: null,
        review_url: `http://localhost:8765/inbox/${String(id)}`,
      })
    const unknown = await check(system, 'nothing', {}, support)
    expect(unknown).toMatchObject({ fault: 'not_found' })
    expect(await check(system, id, {}, support)).toMatchObject({
      fault: 'not_found',
      message: String(unknown['message']).replace('nothing', String(id)),
    })
    const waiting = check(system, id, { wait_seconds: 25 })
    const feedback = 'Well seen'
    await system.call('cowork_approve', { proposal_id: id, feedback }, anna)
    expect(await waiting).toMatchObject({
      status: 'approved',
      decided_by: 'anna',
      feedback,
      approved_change: { note: 'call back' },
      collaborative: false,
    })
    expect(await check(system, id, {}, anna)).toMatchObject({ status: 'approved' })
    expect(await system.call('cowork_check_approval')).toMatchObject({ fault: 'invalid_input' })
  })

  test('P9 suggest and escalate are both pending, and an approval counts the same', async () => {
    for (const [score, mode] of [
      [0.3, 'escalate'],
      [0.6, 'suggest'],
    ] as const) {
      const system = await governed()
      await trusted(system, score)
      const { proposal_id: id } = await propose(system)
      const stored = await system.governance.approvals.get(String(id))
      expect(stored).toMatchObject({ status: 'pending', mode })
      expect(await system.call('cowork_approve', { proposal_id: id }, anna)).toMatchObject({
        status: 'approved',
        trust_change: 0.02,
      })
    }
  })

  test('P8 an agent can withdraw only its own proposal', async () => {
    const system = await governed()
    const { proposal_id: id } = await propose(system)
    const withdraw = (by = sales) => system.call('cowork_withdraw', { approval_id: id }, by)
    expect(await withdraw(support)).toMatchObject({ fault: 'not_found' })
    expect(await withdraw()).toMatchObject({ status: 'withdrawn' })
    expect(await withdraw()).toMatchObject({ fault: 'already_decided' })
  })

  test('A7 a pending proposal survives a restart with all its data', async () => {
    const store = sqliteStore()
    const before = await openGoverned({}, {}, store)
    const { proposal_id: id } = await propose(before, { idempotency_key: 'k' })
    await before.close()
    const after = await governed({}, {}, store)
    expect(await propose(after, { idempotency_key: 'k' })).toMatchObject({ proposal_id: id })
    expect(await after.call('cowork_approve', { proposal_id: id }, anna)).toMatchObject({
      trust_level: 0.32,
    })
  })
})
