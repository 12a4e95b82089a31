import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { proposal } from './acts.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { movableClock } from './governed.ts'
import { createClient, fixture, overMcp, proposed, createSpeakers } from './speakers.ts'
import type { Said, Speaker } from './speakers.ts'

const forPeople = (id: string): [string, object][] => [
  ['cowork_approve', { proposal_id: id }],
  [
    'cowork_override',
    {
      agent_id: 'sales',
      domain: 'crm',
      action_description: 'x',
      override_type: 'edge_case',
      description: 'x',
    },
  ],
  ['cowork_decide', { approval_ids: [id], decision: 'approve' }],
  ['cowork_undo', { approval_ids: [id] }],
  ['cowork_set_trust', { agent_id: 'sales', domain: 'crm', score: 1, reason: 'x' }],
  ['cowork_revoke_permission', { id: 'x' }],
  ['cowork_halt', { scope: 'all' }],
]

describe('authentication on', () => {
  let app: TestApp
  let owner: Speaker
  let reviewer: Speaker
  let sales: Speaker
  beforeAll(async () => {
    app = await startTestApp({}, { fixture })
    ;({ owner, reviewer, sales } = await createSpeakers(app))
  })
  afterAll(() => app.close())

  test('M5 a halt refuses every mode, and nothing is proposed or requested', async () => {
    const waiting = (await owner.list('')).counts
    await owner.call('cowork_set_trust', {
      agent_id: 'sales',
      domain: 'crm.halted',
      score: 1,
      reason: 'known',
    })
    await owner.call('cowork_halt', { scope: 'agent:sales', reason: 'stop' })
    const there = { domain: 'crm.halted' }
    expect(await sales.call('cowork_propose', proposal(there))).toMatchObject({ code: 'halted' })
    expect(await sales.call('crm-server_write', { path: '/a' })).toMatchObject({ code: 'halted' })
    expect((await owner.list('')).counts).toEqual(waiting)
    await owner.call('cowork_resume', { scope: 'agent:sales' })
    expect(await sales.call('cowork_propose', proposal(there))).toMatchObject({ mode: 'act' })
  })

  test('A3 an agent token cannot decide over MCP or the API, and the error names where people decide', async () => {
    const id = await proposed(sales)
    const mcp = await overMcp(app, sales.token)
    for (const [tool, args] of forPeople(id)) {
      const result = await mcp.call(tool, args)
      expect(result, tool).toMatchObject({ isError: true, code: 'human_required' })
      expect(result.text).toContain('HumanRequiredError')
      expect(JSON.stringify(result)).toContain(`${app.url}/inbox`)
      expect(await sales.call(tool, args)).toMatchObject({
        code: 'human_required',
        review_url: `${app.url}/inbox`,
      })
    }
    const names = await mcp.names()
    for (const [tool] of forPeople(id)) expect(names).not.toContain(tool)
    expect(names).toContain('cowork_propose')
    expect(await sales.ask(`/api/approvals/${id}/decide`, { decision: 'approve' })).toMatchObject({
      status: 403,
    })
    expect((await owner.list(`?ids=${id}`)).items).toMatchObject([{ status: 'pending' }])
  })

  test('A3 a person token is refused on MCP: an MCP client is an agent', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
    for (const person of [owner, reviewer]) {
      const { status, body } = await person.ask('/mcp', message)
      expect(status).toBe(403)
      expect(JSON.stringify(body)).toContain('person_token_on_mcp')
      await expect(overMcp(app, person.token)).rejects.toThrow(/403/)
    }
  })

  test('A5 of two concurrent decisions one succeeds, and the other names the person', async () => {
    for (const ways of [
      ['approve', 'reject'],
      ['approve', 'approve'],
    ] as const) {
      const id = await proposed(sales, { domain: `race.${ways.join('.')}` })
      const [one, two] = await Promise.all(
        [owner, reviewer].map((person, i) =>
          person.call('cowork_decide', {
            approval_ids: [id],
            decision: ways[i],
            override: { type: 'edge_case' },
          }),
        ),
      )
      const outcomes = [one, two].flatMap((reply) => reply?.['outcomes'] as Said[])
      const made = outcomes.filter(({ status }) => status !== 'error')
      const lost = outcomes.filter(({ status }) => status === 'error')
      expect([made.length, lost.length]).toEqual([1, 1])
      const { items } = await owner.list(`?ids=${id}`)
      const { decided_by: by, status } = items[0] as Said
      expect(lost[0]).toMatchObject({
        error: { code: 'already_decided', message: expect.stringContaining(`by ${String(by)}`) },
      })
      expect(made[0]?.['status']).toBe(status)
      const late = await owner.call('cowork_approve', { proposal_id: id })
      expect(late).toMatchObject({
        code: 'already_decided',
        status,
        decided_by: by,
        decided_at: expect.any(String),
      })
    }
  })

  test('A15 an approved call runs once, and repeats get its stored result over MCP and the API', async () => {
    const mcp = await overMcp(app, sales.token)
    const call = () => mcp.call('crm-server_write', { path: '/a' })
    const waiting = await call()
    expect(waiting).toMatchObject({
      isError: true,
      code: 'approval_required',
      status: 'pending',
      review_url: expect.stringContaining('/inbox/'),
    })
    const id = String((waiting as Said)['approval_id'])
    const decided = await reviewer.ask(`/api/approvals/${id}/decide`, { decision: 'approve' })
    expect(decided.body['output']).toMatchObject({ outcomes: [{ id, status: 'approved' }] })
    for (let n = 0; n < 2; n++)
      expect(await call()).toMatchObject({
        isError: false,
        done: '/a',
        approval_id: id,
        not_run_again: true,
      })
    const { body } = await sales.ask('/api/tools/crm-server_write/call', {
      arguments: { path: '/a' },
    })
    expect(body).toMatchObject({ output: { done: '/a' }, earlier: { approval_id: id } })
    expect(await mcp.call('cowork_check_approval', { approval_id: id })).toMatchObject({
      status: 'consumed',
      result: { status: 'done', output: { done: '/a' } },
    })
  })
})

describe('authentication off', () => {
  test('A3 any caller can decide proposals, as unverified, and nothing else', async () => {
    const app = await startTestApp({}, { fixture })
    onTestFinished(() => app.close())
    const mcp = await overMcp(app)
    const as = { agent_id: 'sales' }
    const propose = async () =>
      String(((await mcp.call('cowork_propose', { ...as, ...proposal() })) as Said)['proposal_id'])
    const id = await propose()
    const approved = await mcp.call('cowork_approve', { proposal_id: id })
    expect(approved).toMatchObject({
      isError: false,
      status: 'approved',
      verified: false,
      decided_by: 'unverified',
      trust_level: 0.32,
    })
    const [, [overrideTool, overriding] = ['', {}]] = forPeople(id)
    const rejected = await mcp.call(overrideTool, { ...overriding, proposal_id: await propose() })
    expect(rejected).toMatchObject({ isError: false, verified: false, trust_level: 0.3 })
    const entry = await createClient(app, app.owner).ask('/api/ledger?type=approval.approved')
    expect(entry.body['entries']).toMatchObject([
      { actor: { kind: 'human', id: 'unverified', verified: false }, data: { channel: 'mcp' } },
    ])

    const waiting = (await mcp.call('crm-server_write', { path: '/a' })) as Said
    expect(waiting['code']).toBe('approval_required')
    const call = String(waiting['approval_id'])
    for (const [tool, args] of forPeople(call).slice(2))
      expect(await mcp.call(tool, args), tool).toMatchObject({
        isError: true,
        code: 'human_required',
      })
    // A call is not a proposal and cannot be approved through these tools.
    expect(await mcp.call('cowork_approve', { proposal_id: call })).toMatchObject({
      isError: true,
      code: 'already_decided',
    })
    expect((await createClient(app, app.owner).list(`?ids=${call}`)).items).toMatchObject([
      { status: 'pending' },
    ])
    // The default list contains none of these tools; ?tools=all contains those for unverified callers (SV17).
    const names = await mcp.names()
    for (const [tool] of forPeople(call)) expect(names).not.toContain(tool)
  })
})

describe('over time', () => {
  test('A7 pending, deferred and decided items survive a restart', async () => {
    const settings = { 'approvals.undo_hold': '1s' }
    const first = await startTestApp(settings)
    const owner = createClient(first, first.owner)
    const { token } = await owner.call('cowork_add_agent', { id: 'sales' })
    const sales = createClient(first, String(token))
    const [waits, held, done] = [
      await proposed(sales, { domain: 'a' }),
      await proposed(sales, { domain: 'b', proposed_change: { owner: 'me' } }),
      await proposed(sales, { domain: 'c' }),
    ]
    await owner.call('cowork_approve', { proposal_id: done })
    const hold = { approval_ids: [held], decision: 'approve', hold: true }
    expect(await owner.call('cowork_decide', hold)).toMatchObject({
      outcomes: [{ status: 'held' }],
    })
    await first.close()

    const second = await startTestApp(settings, { state: first.state })
    onTestFinished(() => second.close())
    const [people, agent] = [
      createClient(second, second.owner),
      createClient(second, String(token)),
    ]
    const statusOf = async (id: string) => (await people.list(`?ids=${id}`)).items[0]?.status
    await expect.poll(() => statusOf(held)).toBe('approved')
    expect(await statusOf(waits)).toBe('pending')
    expect(await statusOf(done)).toBe('approved')
    const wait = agent.call('cowork_check_approval', { approval_id: waits, wait_seconds: 25 })
    await people.call('cowork_approve', { proposal_id: waits })
    expect(await wait).toMatchObject({ status: 'approved', decided_by: 'owner' })
    const { body } = await people.ask('/api/ledger?type=approval.approved')
    expect(body['entries']).toHaveLength(3)
  })

  test('A11 while the clock is behind by more than 5 minutes, agents are refused and nothing changes', async () => {
    const clock = movableClock()
    const app = await startTestApp({}, { now: clock.now })
    onTestFinished(() => app.close())
    const owner = createClient(app, app.owner)
    const { token } = await owner.call('cowork_add_agent', { id: 'sales' })
    const sales = createClient(app, String(token))
    const id = await proposed(sales)
    clock.move(-4 * 60_000)
    expect(await sales.call('cowork_check_trust', { domain: 'crm' })).toMatchObject({
      trust_level: 0.3,
    })
    clock.move(-2 * 60_000)
    const refused = {
      code: 'clock_went_back',
      hint: expect.stringContaining('Correct the clock'),
    }
    expect(await sales.call('cowork_status')).toMatchObject(refused)
    expect(await sales.call('cowork_propose', proposal())).toMatchObject(refused)
    expect(await owner.call('cowork_approve', { proposal_id: id })).toMatchObject(refused)
    expect(await owner.call('cowork_halt')).toMatchObject(refused)
    // People can still read everything.
    for (let i = 0; i < 3; i++) {
      expect(await owner.call('cowork_status')).toMatchObject({ pending: 1 })
      await new Promise((later) => setTimeout(later, 60))
    }
    expect((await owner.list()).items).toMatchObject([{ id, status: 'pending' }])
    clock.move(6 * 60_000)
    await expect
      .poll(() => owner.call('cowork_approve', { proposal_id: id }))
      .toMatchObject({ status: 'approved' })
    const seen = async () => (await owner.ask('/api/ledger?type=call.done&q=cowork_status')).body
    await expect.poll(async () => ((await seen())['entries'] as unknown[]).length).toBe(3)
  })
})
