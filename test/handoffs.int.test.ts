import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { handoff } from './handoffs.ts'

type Said = Record<string, unknown>

async function start(state?: string): Promise<TestApp> {
  const app = await startTestApp({}, state === undefined ? {} : { state })
  onTestFinished(() => app.close())
  return app
}

async function call(app: TestApp, tool: string, args: object, token?: string): Promise<Said> {
  const reply = await app.call(tool, { ...args }, token)
  const body = (await reply.json()) as { output?: Said; error?: Said }
  return body.output ?? body.error ?? {}
}

const addAgent = async (app: TestApp, id: string) =>
  String((await call(app, 'cowork_add_agent', { id }))['token'])

const status = (app: TestApp) => call(app, 'cowork_status', {})

test('H1 H2 H3 A7 an agent hands over, a person answers, and restarts lose nothing', async () => {
  const first = await start()
  const token = await addAgent(first, 'sales')
  const { handoff_id: id } = await call(first, 'cowork_handoff', handoff(), token)
  await first.close()

  const second = await start(first.state)
  expect(await status(second)).toMatchObject({ pending_handoffs: [{ handoff_id: id }] })
  const shown = await fetch(`${second.url}/api/approvals/${String(id)}`, {
    headers: { authorization: `Bearer ${second.owner}` },
  })
  expect(await shown.json()).toMatchObject({
    kind: 'handoff',
    action: 'escalate',
    handoff: { reason: 'The discount is above what I may give.', thread: [{ handoff_id: id }] },
  })
  await call(second, 'cowork_resolve_handoff', {
    handoff_id: id,
    resolution: 'Granted.',
    instructions: 'At most 20 %.',
  })
  expect(await call(second, 'cowork_check_handoff', {}, token)).toMatchObject({ count: 1 })
  await second.close()

  const third = await start(first.state)
  expect(await call(third, 'cowork_check_handoff', {}, token)).toMatchObject({
    pending_instructions: [{ handoff_id: id, instructions: 'At most 20 %.' }],
  })
  const ack = await call(third, 'cowork_check_handoff', { ack: [id] }, token)
  expect(ack).toMatchObject({ count: 0, acknowledged: [id] })
})

test('H2 a handoff of a revoked agent can be resolved but not handed back', async () => {
  const app = await start()
  const token = await addAgent(app, 'sales')
  const { handoff_id: id } = await call(app, 'cowork_handoff', handoff(), token)
  await call(app, 'cowork_revoke_agent', { id: 'sales' })
  const answer = { handoff_id: id, resolution: 'I do it.', hand_back: true }
  expect(await call(app, 'cowork_resolve_handoff', answer)).toMatchObject({
    status: 'resolved',
    hand_back: false,
    hand_back_refused: {
      code: 'agent_revoked',
      hint: expect.stringContaining('a different agent'),
    },
  })
  expect(await call(app, 'cowork_check_handoff', { agent_id: 'sales' })).toMatchObject({ count: 0 })
  // A new agent with the old name gets its own handoffs back.
  const again = await addAgent(app, 'sales')
  const { handoff_id: next } = await call(app, 'cowork_handoff', handoff(), again)
  expect(await call(app, 'cowork_resolve_handoff', { ...answer, handoff_id: next })).toMatchObject({
    hand_back: true,
  })
})

test('A3 H2 B2 with authentication off anyone can resolve handoffs and decide proposals, as unverified', async () => {
  const app = await start()
  const client = new Client({ name: 'test-client', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(app.mcpUrl)))
  const asAgent = async (name: string, args: object) => {
    const given = { agent_id: 'sales', ...args }
    return (await client.callTool({ name, arguments: given })).structuredContent as Said
  }
  const as = async (name: string, args: object) =>
    (await client.callTool({ name, arguments: { ...args } })).structuredContent as Said
  const { handoff_id: id } = await asAgent('cowork_handoff', handoff())
  expect(
    await as('cowork_resolve_handoff', { handoff_id: id, resolution: 'Fine.', hand_back: true }),
  ).toMatchObject({ status: 'resolved', verified: false, resolved_by: 'unverified' })
  expect(await asAgent('cowork_check_handoff', {})).toMatchObject({ count: 1 })
  const change = { action: 'update', target: 'deal-1', proposed_change: {}, reasoning: '' }
  const { proposal_id: proposal } = await asAgent('cowork_propose', {
    domain: 'crm',
    confidence: 1,
    ...change,
  })
  expect(await as('cowork_bulk_approve', { proposal_ids: [proposal] })).toMatchObject({
    approved: 1,
    verified: false,
  })
  await client.close()
})
