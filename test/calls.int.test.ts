import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'

let app: TestApp
beforeAll(async () => (app = await startTestApp()))
afterAll(() => app.close())

async function connect(token?: string, mode: 'legacy' | 'auto' = 'auto') {
  const client = new Client({ name: 'test-client', version: '1' }, { versionNegotiation: { mode } })
  const requestInit = token ? { headers: { authorization: `Bearer ${token}` } } : {}
  await client.connect(new StreamableHTTPClientTransport(new URL(app.mcpUrl), { requestInit }))
  return client
}

const ledger = async (query = '') => {
  const reply = await fetch(`${app.url}/api/ledger?limit=1000${query}`, {
    headers: { authorization: `Bearer ${app.owner}` },
  })
  return ((await reply.json()) as { entries: { type: string; seq: number }[] }).entries
}

describe.each(['auto', 'legacy'] as const)('a call over HTTP, %s era', (mode) => {
  test('L1 G1 what an agent logs is in the ledger when the call returns', async () => {
    const client = await connect(undefined, mode)
    const result = await client.callTool({
      name: 'cowork_log',
      arguments: {
        agent_id: 'sales',
        domain: 'crm.deals',
        action: 'update_deal',
        target: `deal-${mode}`,
        proposal_id: `p-${mode}`,
      },
    })
    expect(result.structuredContent).toMatchObject({
      domain: 'crm.deals',
      proposal_id: `p-${mode}`,
    })
    const entries = await ledger('&actor=sales')
    expect(entries).toContainEqual(
      expect.objectContaining({
        type: 'action.logged',
        domain: 'crm.deals',
        subject: `deal-${mode}`,
        actor: expect.objectContaining({
          kind: 'agent',
          id: 'sales',
          verified: false,
          client: { name: 'test-client', version: '1', transport: 'http', self_reported: true },
        }),
      }),
    )
    expect(entries).toContainEqual(
      expect.objectContaining({
        type: 'call.done',
        data: expect.objectContaining({ tool: 'cowork_log' }),
      }),
    )
    await client.close()
  })

  test('G2 the trail of a proposal shows what is missing', async () => {
    const client = await connect(undefined, mode)
    const trail = await client.callTool({
      name: 'cowork_audit_trail',
      arguments: { agent_id: 'sales', proposal_id: `p-${mode}` },
    })
    expect(trail.structuredContent).toMatchObject({
      chain: [{ step: 'execute', actor: 'sales' }],
      missing: ['propose', 'approve', 'verify'],
      in_order: false,
    })
    await client.close()
  })

  test('L10 an agent sees its own entries only, people all', async () => {
    const client = await connect(undefined, mode)
    const other = await client.callTool({
      name: 'cowork_status',
      arguments: { agent_id: 'other', include_timeline: true },
    })
    expect(JSON.stringify(other.structuredContent)).not.toContain('sales')
    const log = await client.callTool({
      name: 'get_audit_log',
      arguments: { operation_filter: 'cowork_lo' },
    })
    expect(log.structuredContent).toEqual({ entries: [] })
    const reply = await app.call('get_audit_log', { operation_filter: 'cowork_lo' })
    expect(await reply.json()).toMatchObject({
      output: {
        entries: expect.arrayContaining([
          expect.objectContaining({ operation: 'cowork_log', agent_id: 'sales', success: true }),
        ]),
      },
    })
    await client.close()
  })

  test('SV12 a failure is an error result with code, message and hint, and is recorded', async () => {
    const client = await connect(undefined, mode)
    const result = await client.callTool({
      name: 'cowork_log',
      arguments: { agent_id: 'clumsy', domain: 'x' },
    })
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result.content)).toMatch(/action/)
    await expect
      .poll(async () => (await ledger('&actor=clumsy')).map((e) => e.type))
      .toContain('call.refused')
    await client.close()
  })

  test('A3 an agent that calls a tool for people is refused', async () => {
    const client = await connect(undefined, mode)
    for (const [name, args] of [
      ['cowork_halt', {}],
      ['cowork_add_agent', { id: 'me-too' }],
      ['cowork_resume', {}],
    ] as const) {
      const result = await client.callTool({ name, arguments: args })
      expect(result.isError).toBe(true)
      expect(JSON.stringify(result)).toContain('HumanRequiredError')
    }
    await client.close()
  })

  test('A9 a halt refuses agents immediately, survives a restart and is removed by a person', async () => {
    const client = await connect(undefined, mode)
    const status = () =>
      client.callTool({ name: 'cowork_status', arguments: { agent_id: 'sales' } })
    expect((await status()).isError).toBeFalsy()
    expect((await app.call('cowork_halt', { scope: 'agent:sales', reason: 'lunch' })).status).toBe(
      200,
    )
    const halted = await status()
    expect(halted.isError).toBe(true)
    expect(JSON.stringify(halted.content)).toContain('lunch')
    await client.close()
    const { state } = app
    await app.close()
    app = await startTestApp({}, { state })
    const again = await connect(undefined, mode)
    const still = await again.callTool({ name: 'cowork_status', arguments: { agent_id: 'sales' } })
    expect(still.isError).toBe(true)
    const neighbour = await again.callTool({
      name: 'cowork_status',
      arguments: { agent_id: 'other' },
    })
    expect(neighbour.isError).toBeFalsy()
    expect((await app.call('cowork_resume', { scope: 'agent:sales' })).status).toBe(200)
    expect((await app.call('cowork_resume', { scope: 'agent:sales' })).status).toBe(404)
    expect((await app.call('cowork_halt', { scope: 'everything' })).status).toBe(400)
    const lifted = await again.callTool({ name: 'cowork_status', arguments: { agent_id: 'sales' } })
    expect(lifted.isError).toBeFalsy()
    expect((await ledger()).map((e) => e.type)).toEqual(
      expect.arrayContaining(['halt.set', 'halt.lifted', 'daemon.stopped', 'daemon.started']),
    )
    await again.close()
  })
})

test('I3 the first agent turns on authentication', async () => {
  const reply = await app.call('cowork_add_agent', { id: 'sales' })
  const { output } = (await reply.json()) as { output: { token: string } }
  const unknown = await connect()
  await expect(unknown.callTool({ name: 'cowork_status', arguments: {} })).rejects.toThrow('token')
  await unknown.close()
  const client = await connect(output.token)
  const status = await client.callTool({ name: 'cowork_status', arguments: {} })
  expect(status.structuredContent).toMatchObject({
    auth: 'closed',
    caller: { id: 'sales', verified: true },
  })
  const posing = await client.callTool({ name: 'cowork_status', arguments: { agent_id: 'other' } })
  expect(posing.isError).toBe(true)
  const tools = await client.listTools()
  expect(tools.tools.map((tool) => tool.name)).not.toContain('cowork_halt')
  expect((await app.call('cowork_revoke_agent', { id: 'sales' })).status).toBe(200)
  await expect(client.callTool({ name: 'cowork_status', arguments: {} })).rejects.toThrow(
    /401|token/i,
  )
  await client.close().catch(() => undefined)
})

test('L7 a daemon does not start on a store with missing signed entries', async () => {
  const first = await startTestApp()
  await first.call('cowork_status')
  await first.close()
  const store = new DatabaseSync(join(first.state, 'cowork.db'))
  store.exec('DROP TRIGGER ledger_entry_no_delete; DELETE FROM ledger_entry WHERE seq > 1')
  store.exec('UPDATE ledger_head SET size = 1')
  store.close()
  await expect(startTestApp({}, { state: first.state })).rejects.toMatchObject({
    code: 'ledger_cut',
  })
})
