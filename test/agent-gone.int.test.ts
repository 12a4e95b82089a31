// The open work of a revoked agent, and what the next agent of the same name can see of it.
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { createTestDatabase } from './databases.ts'
import { addAgent, listEntries } from './files.ts'
import { handoff } from './handoffs.ts'
import { proposal } from './acts.ts'
import { createClient, proposed } from './speakers.ts'
import { call, connectBy, crm, takesTasks, createTaskClient } from './waiting.ts'

const noTasks = {
  get: () => Promise.resolve(undefined),
  update: () => Promise.resolve(false),
  cancel: () => Promise.resolve(false),
}

type World = ReturnType<typeof crm>

async function start({ tools }: World, settings: Record<string, unknown> = {}): Promise<TestApp> {
  const app = await startTestApp(
    { 'approvals.undo_hold': '0s', ...settings },
    { fixture: { tools, features: [], tasks: noTasks } },
  )
  onTestFinished(() => app.close())
  return app
}

async function withTasks(app: TestApp, token?: string) {
  let last = ''
  const heard = async (url: string | URL, init?: RequestInit) => {
    const response = await fetch(url, init)
    if (response.headers.get('content-type')?.includes('json')) last = await response.clone().text()
    return response
  }
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }
  const transport = new StreamableHTTPClientTransport(new URL(app.mcpUrl), {
    requestInit,
    fetch: heard,
  })
  return createTaskClient(await connectBy(transport, { capabilities: takesTasks }), () => last)
}

const ownerOf = (app: TestApp) => createClient(app, app.owner)
const revoke = (app: TestApp, id = 'sales') => ownerOf(app).call('cowork_revoke_agent', { id })
const decide = (app: TestApp, ids: readonly string[], more: object = {}) =>
  ownerOf(app).call('cowork_decide', { approval_ids: ids, decision: 'approve', ...more })

const startedBy = async (app: TestApp, id: string) =>
  (await listEntries(app, '&type=call.started')).filter(({ actor }) => actor.id === id)

describe('pending requests of a removed agent', () => {
  test('I4 A2 a task is withdrawn with its agent, and nothing can be decided about it any more', async () => {
    const world = crm()
    const app = await start(world)
    const { token } = await addAgent(app, 'sales')
    const id = await (await withTasks(app, token)).start()
    await revoke(app)
    expect(await decide(app, [id])).toMatchObject({
      errors: 1,
      outcomes: [
        { error: { code: 'already_decided', message: expect.stringContaining('withdrawn') } },
      ],
    })
    await setTimeout(300)
    expect(world.deleted).toEqual([])
    expect(await startedBy(app, 'sales')).toEqual([])
  })

  test('I4 C2 a decision that is held when the agent is revoked is never made', async () => {
    const world = crm()
    const app = await start(world, { 'approvals.undo_hold': '1s' })
    const { token } = await addAgent(app, 'sales')
    const { start: begin } = await withTasks(app, token)
    const ids = [await begin(), await begin(call('row-2'))]
    expect(await decide(app, ids, { hold: true })).toMatchObject({ errors: 0 })
    await revoke(app)
    await setTimeout(1500)
    expect(world.deleted).toEqual([])
    const types = (await listEntries(app, '&type=approval.')).map(({ type }) => type)
    expect(types.filter((type) => type === 'approval.withdrawn')).toHaveLength(2)
    expect(types).not.toContain('approval.approved')
  })

  test('I4 A2 a call held open does not run after its agent is revoked', async () => {
    const world = crm()
    const app = await start(world)
    const { token } = await addAgent(app, 'sales')
    const client = new Client(
      { name: 'shown', version: '1' },
      { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { url: {} } } },
    )
    onTestFinished(() => client.close())
    let shown = 0
    client.setRequestHandler('elicitation/create', () => {
      shown++
      return { action: 'accept' }
    })
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(app.mcpUrl), { requestInit }))
    const held = client.callTool(call()).catch((error: unknown) => ({ error: String(error) }))
    await expect.poll(() => shown).toBe(1)
    await setTimeout(200)
    const [waiting] = (await ownerOf(app).list()).items
    await revoke(app)
    await decide(app, [String(waiting?.id)])
    expect(JSON.stringify(await held)).not.toContain('"deleted"')
    expect(world.deleted).toEqual([])
    expect(await startedBy(app, 'sales')).toEqual([])
  })

  test('I5 I4 a task of an anonymous caller does not run once authentication is enabled', async () => {
    const world = crm()
    const app = await start(world)
    const id = await (await withTasks(app)).start()
    await ownerOf(app).call('cowork_add_agent', { id: 'first' })
    expect(await decide(app, [id])).toMatchObject({
      errors: 1,
      outcomes: [{ error: { code: 'agent_revoked' } }],
    })
    await setTimeout(300)
    expect(world.deleted).toEqual([])
    expect(await decide(app, [id], { decision: 'reject' })).toMatchObject({ errors: 0 })
  })

  test('I4 A2 it is the same across two daemons on PostgreSQL', async () => {
    const world = crm()
    const url = await createTestDatabase(inject('postgresUrl'))
    const here = await start(world, { 'storage.url': url, 'approvals.undo_hold': '1s' })
    const there = await start(world, {
      'storage.url': url,
      'approvals.undo_hold': '1s',
      'ledger.key_path': join(here.state, 'ledger.key'),
    })
    const { token } = await addAgent(here, 'sales')
    const { start: begin } = await withTasks(there, token)
    const ids = [await begin(), await begin(call('row-2'))]
    await decide(here, ids.slice(1), { hold: true })
    await revoke(here)
    expect(await decide(there, ids)).toMatchObject({ errors: 2 })
    await setTimeout(1500)
    expect(world.deleted).toEqual([])
  })
})

describe('whoever has the name next', () => {
  test('I4 A2 Y8 runs nothing that its predecessor was allowed', async () => {
    const world = crm()
    const app = await start(world)
    const before = await addAgent(app, 'sales')
    const asked = await before.mcp.call('crm_delete', { id: 'once' })
    const always = await before.mcp.call('crm_delete', { id: 'always' })
    await ownerOf(app).call('cowork_halt')
    await decide(app, [String(asked['approval_id'])])
    await decide(app, [String(always['approval_id'])], {
      allow: { for: 'always', arguments: { id: 'a*' } },
    })
    await revoke(app)
    await ownerOf(app).call('cowork_resume')
    expect(await ownerOf(app).call('cowork_list_permissions')).toMatchObject({ permissions: [] })
    const after = await addAgent(app, 'sales')
    for (const id of ['once', 'always', 'another'])
      expect(await after.mcp.call('crm_delete', { id })).toMatchObject({
        code: 'approval_required',
      })
    expect(world.deleted).toEqual([])
  })

  test('P8 P6 G4 H3 L10 reads and uses nothing of its predecessor’s', async () => {
    const app = await start(crm())
    const owner = ownerOf(app)
    const before = await addAgent(app, 'sales')
    const change = { note: 'the salary of anna' }
    const mine = { proposed_change: change, idempotency_key: 'k1' }
    const id = await proposed(before.api, mine)
    await owner.call('cowork_approve', { proposal_id: id })
    const waits = await proposed(before.api, { proposed_change: change, target: 'deal-2' })
    const given = await before.api.call('cowork_handoff', handoff())
    const back = String(given['handoff_id'])
    const open = String((await before.api.call('cowork_handoff', handoff()))['handoff_id'])
    const instructions = 'Transfer the money.'
    await owner.call('cowork_resolve_handoff', {
      handoff_id: back,
      resolution: 'Yes.',
      instructions,
    })
    const task = await (await withTasks(app, before.token)).start()
    const [entry] = await listEntries(app, '&actor=sales')
    await revoke(app)
    const { api, token, mcp } = await addAgent(app, 'sales')

    for (const [tool, args] of [
      ['cowork_status', { include_timeline: true }],
      ['cowork_check_handoff', { ack: [back] }],
      ['cowork_check_approval', { approval_id: id }],
      ['cowork_check_approval', { approval_id: back }],
      ['cowork_audit_trail', { proposal_id: id }],
      ['get_audit_log', {}],
      ['cowork_governance_report', {}],
    ] as const) {
      const result = JSON.stringify(await mcp.call(tool, args))
      for (const word of ['salary', 'Transfer', 'deal-', 'discount', 'cowork_propose'])
        expect(result, `${tool} tells ${word}`).not.toContain(word)
    }
    for (const approval of [waits, open])
      expect(await api.call('cowork_withdraw', { approval_id: approval })).toMatchObject({
        code: 'not_found',
      })
    const log = { domain: 'crm', action: 'update_deal', target: 'deal-1', proposal_id: id }
    expect(await api.call('cowork_log', log)).toMatchObject({ code: 'not_found' })
    for (const more of [{ proposal_id: id }, { parent_handoff_id: back }])
      expect(await api.call('cowork_handoff', handoff(more))).toMatchObject({ code: 'not_found' })
    expect(await api.call('cowork_propose', proposal({ handoff_id: back }))).toMatchObject({
      code: 'not_found',
    })
    await expect((await withTasks(app, token)).get(task)).rejects.toThrow(/Unknown task/)
    expect((await api.ask(`/api/ledger/${entry?.seq}`)).status).toBe(404)
    expect((await api.list('?status=all')).items).toEqual([])

    const anew = await api.call('cowork_propose', proposal({ ...mine, target: 'other' }))
    expect(anew).toMatchObject({
      status: expect.any(String),
      proposal_id: expect.not.stringMatching(id),
    })
    const { proposal_id: own } = anew
    expect(await api.call('cowork_propose', proposal({ ...mine, target: 'other' }))).toMatchObject({
      proposal_id: own,
    })
    expect(await api.call('cowork_check_approval', { proposal_id: own })).toMatchObject({
      approval_id: own,
    })

    // For people all of it is there, and what was waiting is theirs to decide.
    const { items } = await owner.list('?agent=sales')
    expect(items.map((item) => item.id)).toEqual(expect.arrayContaining([waits, open]))
    expect(await decide(app, [waits])).toMatchObject({ errors: 0 })
    expect(
      await owner.call('cowork_resolve_handoff', {
        handoff_id: open,
        resolution: 'Yes.',
        instructions,
      }),
    ).toMatchObject({ hand_back: false, hand_back_refused: { code: 'agent_revoked' } })
    expect(await api.call('cowork_check_handoff')).toMatchObject({ count: 0 })
  })
})

test('P8 SV3 who waits for a person does not hold up the end of the daemon', async () => {
  const app = await start(crm())
  const { api, mcp } = await addAgent(app, 'sales')
  const id = await proposed(api)
  const waits = mcp.call('cowork_check_approval', { approval_id: id, wait_seconds: 25 })
  await setTimeout(300)
  const begun = Date.now()
  await app.close()
  expect(Date.now() - begun).toBeLessThan(5000)
  expect(await waits).toMatchObject({ isError: false, status: 'pending' })
})
