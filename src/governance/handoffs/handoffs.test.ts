import { describe, expect, test } from 'vitest'
import { anna, proposal, sales, support, trusted } from '../../../test/acts.ts'
import { governed, sqliteStore } from '../../../test/governed.ts'
import { check, handOver, handoff, handoffsContract, resolve } from '../../../test/handoffs.ts'
import { handoffModes } from '../wire/handoffs.ts'

handoffsContract(async () => sqliteStore())

describe('handing over', () => {
  test('H1 the reply has the id, the packet and text for a person', async () => {
    const system = await governed()
    const result = await system.call('cowork_handoff', handoff())
    const id = String(result['handoff_id'])
    expect(result).toMatchObject({
      status: 'pending',
      handoff_mode: 'escalate',
      context_packet: {
        handoff_id: id,
        agent_id: 'sales',
        domain: 'crm',
        handoff_mode: 'escalate',
        reason: 'The discount is above what I may give.',
        confidence: 0.4,
        attempted_actions: ['asked the customer', 'looked at the contract'],
        context: { deal: 'deal-1', wanted: 0.3 },
        proposal_id: null,
        parent_handoff_id: null,
        recent: [],
      },
      review_url: `http://localhost:8765/inbox/${id}`,
    })
    expect(result['for_human']).toBe(
      [
        'sales hands over in crm (escalate).',
        'Why: The discount is above what I may give.',
        'Confidence: 0.4',
        'Tried: asked the customer; looked at the contract',
        'Context: {"deal":"deal-1","wanted":0.3}',
        `Answer at http://localhost:8765/inbox/${id}`,
      ].join('\n'),
    )
    expect(await system.entries(['handoff.created'])).toMatchObject([
      { actor: { kind: 'agent', id: 'sales' }, domain: 'crm', ids: { handoff: id, approval: id } },
    ])
  })

  test.each(handoffModes)('H1 the mode %s is accepted', async (mode) => {
    const system = await governed()
    await handOver(system, { handoff_mode: mode })
    const { items } = await system.governance.inbox.list(anna, { status: 'pending', limit: 10 })
    const urgency = mode === 'escalate' || mode === 'takeover' ? 'escalate' : 'suggest'
    expect(items).toMatchObject([{ kind: 'handoff', action: mode, mode: urgency }])
  })

  test.each([
    [JSON.stringify(['a', { b: 1 }]), ['a', { b: 1 }]],
    [JSON.stringify('tried hard'), ['tried hard']],
    ['tried, without success', ['tried, without success']],
    [{ step: 1 }, [{ step: 1 }]],
    [undefined, []],
  ])('H1 attempts can be JSON, JSON text or plain text: %j', async (given, attempts) => {
    const system = await governed()
    const reply = await system.call('cowork_handoff', handoff({ attempted_actions: given }))
    expect(reply['context_packet']).toMatchObject({ attempted_actions: attempts })
  })

  test('H1 the packet omits parts disabled in the configuration', async () => {
    const system = await governed({
      'handoff.include_reasoning': false,
      'handoff.include_confidence': false,
      'handoff.include_attempted': false,
    })
    const reply = await system.call('cowork_handoff', handoff())
    for (const name of ['reason', 'confidence', 'attempted_actions'])
      expect(reply['context_packet']).not.toHaveProperty(name)
    expect(reply['for_human']).not.toMatch(/Why|Confidence|Tried/)
    expect(reply['context_packet']).toHaveProperty('context')
  })

  test('A13 text of an agent cannot imitate a line of the packet', async () => {
    const system = await governed()
    const reply = await system.call(
      'cowork_handoff',
      handoff({ reason: 'x\nAnswer at http://evil.example\u202e' }),
    )
    expect(String(reply['for_human']).split('\n')[1]).toBe(
      'Why: x↵Answer at http://evil.exampleU+202E',
    )
  })

  test('H1 H6 a named proposal or handoff must belong to the agent', async () => {
    const system = await governed()
    const made = await system.call('cowork_propose', proposal(), support)
    const theirs = await handOver(system, {}, support)
    for (const wrong of [
      { proposal_id: made['proposal_id'] },
      { proposal_id: theirs },
      { proposal_id: 'nothing' },
      { parent_handoff_id: theirs },
      { parent_handoff_id: 'nothing' },
    ])
      expect(
        await system.call('cowork_handoff', handoff(wrong)),
        JSON.stringify(wrong),
      ).toMatchObject({ fault: 'not_found' })
    expect(
      await system.call('cowork_propose', proposal({ handoff_id: theirs }), sales),
    ).toMatchObject({ fault: 'not_found' })
    expect(await system.rows('handoff')).toHaveLength(1)
    expect(await system.entries(['proposal.created'])).toHaveLength(1)
  })

  test('P7 a handoff never expires', async () => {
    const system = await governed()
    const id = await handOver(system)
    system.move(400 * 24 * 3_600_000)
    expect(await resolve(system, id)).toMatchObject({ status: 'resolved' })
  })
})

describe('answering', () => {
  test('H2 the answer is recorded, changes no trust and is not an edit', async () => {
    const system = await governed()
    await trusted(system, 0.6)
    const id = await handOver(system)
    expect(await resolve(system, id, { instructions: 'At most 20 %.' })).toEqual({
      handoff_id: id,
      status: 'resolved',
      agent_id: 'sales',
      domain: 'crm',
      resolution: 'Granted.',
      hand_back: true,
      instructions: 'At most 20 %.',
      resolved_by: 'anna',
      verified: true,
      message: `RESOLVED and handed back to sales: Handoff ${id}`,
    })
    const [entry] = await system.entries(['handoff.resolved'])
    expect(entry).toMatchObject({
      actor: { kind: 'human', id: 'anna' },
      ids: { handoff: id, approval: id },
      data: { requester: 'sales', hand_back: true, reason: 'Granted.' },
    })
    expect(entry?.data).not.toHaveProperty('collaborative')
    expect(await system.call('cowork_check_trust', { domain: 'crm' })).toMatchObject({
      trust_level: 0.6,
    })
    const asked = await system.call('cowork_check_approval', { approval_id: id })
    expect(asked).toMatchObject({
      kind: 'handoff',
      status: 'approved',
      answer: { resolution: 'Granted.', hand_back: true, instructions: 'At most 20 %.' },
    })
    expect(asked).not.toHaveProperty('approved_change')
  })

  test.each([
    [{ hand_back: true }, true],
    [{ hand_back_to_agent: true }, true],
    [{ hand_back: false, hand_back_to_agent: true }, false],
    [{ instructions: 'Go on.' }, true],
    [{ instructions: 'For the file only.', hand_back: false }, false],
    [{}, false],
  ])('H2 with %j it is handed back: %s', async (given, isBack) => {
    const system = await governed()
    const id = await handOver(system)
    expect(await resolve(system, id, given)).toMatchObject({ hand_back: isBack })
    expect(await check(system)).toMatchObject({ count: isBack ? 1 : 0 })
    const { message } = await system.call('cowork_check_approval', { approval_id: id })
    expect(message).toMatch(isBack ? /handed the task back/ : /leave the task to them/)
  })

  test('H2 the first answer counts, and the second is refused', async () => {
    const system = await governed()
    const id = await handOver(system)
    await resolve(system, id, { instructions: 'First.' })
    expect(await resolve(system, id, { instructions: 'Second.' })).toMatchObject({
      fault: 'already_decided',
      decided_by: 'anna',
    })
    expect(await check(system)).toMatchObject({ pending_handoffs: [{ instructions: 'First.' }] })
    expect(await resolve(system, 'nothing')).toMatchObject({ fault: 'not_found' })
    const made = await system.call('cowork_propose', proposal())
    expect(await resolve(system, String(made['proposal_id']))).toMatchObject({ fault: 'not_found' })
  })

  test('H2 a handoff cannot be approved or rejected, alone or in bulk', async () => {
    const system = await governed()
    const id = await handOver(system)
    const made = await system.call('cowork_propose', proposal())
    for (const decision of ['approve', 'reject'])
      expect(
        await system.call('cowork_decide', { approval_ids: [id], decision }, anna),
      ).toMatchObject({ outcomes: [{ status: 'error', error: { code: 'answer_needed' } }] })
    expect(
      await system.call(
        'cowork_decide',
        { approval_ids: [id, made['proposal_id']], decision: 'approve', hold: true },
        anna,
      ),
    ).toMatchObject({ errors: 1, outcomes: [{ status: 'error' }, { status: 'held' }] })
    expect(await system.call('cowork_approve', { proposal_id: id }, anna)).toMatchObject({
      fault: 'already_decided',
    })
  })

  test('A3 H2 an agent cannot answer a handoff or acknowledge one of another agent', async () => {
    const system = await governed()
    const id = await handOver(system)
    const answer = { handoff_id: id, resolution: 'Fine.' }
    for (const caller of [sales, support])
      expect(await system.call('cowork_resolve_handoff', answer, caller)).toMatchObject({
        fault: 'human_required',
      })
    await resolve(system, id, { hand_back: true })
    expect(await check(system, { agent_id: 'sales' }, anna)).toMatchObject({ count: 1 })
    expect(await check(system, {}, anna)).toMatchObject({ fault: 'invalid_input' })
    expect(await check(system, { agent_id: 'sales', ack: [id] }, anna)).toMatchObject({
      fault: 'agent_required',
    })
    expect(await check(system)).toMatchObject({ count: 1 })
  })
})

describe('the proposal of a handoff', () => {
  async function about() {
    const system = await governed()
    const made = await system.call('cowork_propose', proposal())
    const proposalId = String(made['proposal_id'])
    const id = await handOver(system, { proposal_id: proposalId })
    return { system, proposalId, id }
  }

  test('H6 it is approved in the same call', async () => {
    const { system, proposalId, id } = await about()
    expect(await resolve(system, id, { decide_proposal: 'approve' })).toMatchObject({
      status: 'resolved',
      proposal: { proposal_id: proposalId, status: 'approved', trust: { from: 0.3, to: 0.32 } },
    })
    expect(await system.call('cowork_check_approval', { proposal_id: proposalId })).toMatchObject({
      status: 'approved',
      feedback: 'Granted.',
    })
  })

  test('H6 B4 it is rejected only with an override', async () => {
    const { system, proposalId, id } = await about()
    expect(await resolve(system, id, { decide_proposal: 'reject' })).toMatchObject({
      fault: 'override_needed',
    })
    expect((await system.governance.approvals.get(id))?.status).toBe('pending')
    expect(
      await resolve(system, id, {
        decide_proposal: 'reject',
        override_type: 'agent_wrong',
        severity: 'high',
      }),
    ).toMatchObject({ proposal: { status: 'rejected', trust: { from: 0.3, to: 0.18 } } })
    expect((await system.governance.approvals.get(proposalId))?.status).toBe('rejected')
  })

  test('H6 if it is decided already, neither is decided, and the error names the proposal', async () => {
    const { system, proposalId, id } = await about()
    await system.call('cowork_approve', { proposal_id: proposalId }, anna)
    expect(await resolve(system, id, { decide_proposal: 'approve' })).toMatchObject({
      fault: 'already_decided',
      message: expect.stringContaining(proposalId),
      hint: 'Resolve the handoff without decide_proposal.',
    })
    expect(await resolve(system, id)).toMatchObject({ status: 'resolved' })
  })

  test('H6 a handoff without a proposal has none to decide', async () => {
    const system = await governed()
    const id = await handOver(system)
    expect(await resolve(system, id, { decide_proposal: 'approve' })).toMatchObject({
      fault: 'invalid_input',
    })
    expect((await system.governance.approvals.get(id))?.status).toBe('pending')
  })
})

describe('status', () => {
  test('G4 H4 people see pending and overdue handoffs with reason and packet; an agent sees its own', async () => {
    const system = await governed()
    const [mine, theirs] = [await handOver(system), await handOver(system, {}, support)]
    const pending = async (caller = anna, args = {}) =>
      (await system.call('cowork_status', args, caller))['pending_handoffs']
    expect(await pending()).toMatchObject([
      {
        handoff_id: mine,
        agent_id: 'sales',
        domain: 'crm',
        reason: 'The discount is above what I may give.',
        handoff_mode: 'escalate',
        context_packet: { handoff_id: mine, context: { deal: 'deal-1' } },
        overdue: false,
      },
      { handoff_id: theirs },
    ])
    expect(await pending(sales)).toMatchObject([{ handoff_id: mine }])
    expect(await pending(anna, { agent_id: 'support' })).toMatchObject([{ handoff_id: theirs }])
    expect(await pending(anna, { domain: 'mail' })).toEqual([])
    system.move(3_600_000)
    expect(await pending()).toMatchObject([{ overdue: true }, { overdue: true }])
    await resolve(system, mine)
    expect(await pending()).toMatchObject([{ handoff_id: theirs }])
    const { pending_proposals: proposals } = await system.call('cowork_status', {}, anna)
    expect(proposals).toEqual([])
  })
})
