import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { proposal } from './acts.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { toRecord, startCollector } from './collector.ts'
import { createClient, fixture } from './speakers.ts'
import type { Said } from './speakers.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'
const traceparent = `00-${trace}-${parent}-01`
const header = 'Bearer collector-secret-8f3a'

/** The daemon with a collector; ended, it has told everything. */
async function start() {
  const collector = await startCollector()
  const app = await startTestApp(
    {
      'server.otlp_endpoint': collector.url,
      'server.otlp_headers': { authorization: header },
    },
    { fixture },
  )
  onTestFinished(app.close)
  const owner = createClient(app, app.owner)
  const { token } = (await owner.call('cowork_add_agent', { id: 'sales' })) as { token: string }
  const collect = async () => {
    await app.close()
    expect(collector.faults).toEqual([])
    const named = (name: string) => collector.spans.filter((span) => span.name === name)
    return { ...collector, named }
  }
  return { app, owner, sales: createClient(app, token), token, collect }
}

test('L13 a span contains the ids of its call and approval, as in the ledger', async () => {
  const { owner, sales, collect } = await start()
  const made = await sales.call('cowork_propose', proposal())
  const id = String(made['proposal_id'])
  await owner.call('cowork_decide', { approval_ids: [id], decision: 'approve' })
  const [acting] = fixture.tools
  const tool = acting?.name ?? ''
  const waits = await sales.call(tool, { path: 'deal-7' })
  const approval = String(waits['approval_id'])
  await owner.call('cowork_decide', { approval_ids: [approval], decision: 'approve' })
  await sales.call('cowork_check_approval', { approval_id: approval, wait_seconds: 25 })
  await sales.call('cowork_halt', { scope: 'all' })
  const { body } = await owner.ask('/api/ledger?limit=100')
  const { named, figures } = await collect()

  expect(named('cowork_propose')).toMatchObject([
    {
      attributes: {
        'cowork.approval_id': id,
        'cowork.agent_id': 'sales',
        'cowork.caller_kind': 'agent',
        'cowork.domain': 'crm',
        'cowork.effect': 'write',
        'cowork.mode': made['mode'],
        'cowork.outcome': 'done',
      },
    },
  ])
  const decided = named('cowork_decide').map(({ attributes }) => attributes)
  expect(decided).toMatchObject([
    { 'cowork.approval_id': id, 'cowork.caller_kind': 'human' },
    { 'cowork.approval_id': approval },
  ])
  for (const attributes of decided) expect(attributes).not.toHaveProperty('cowork.agent_id')
  expect(named(tool).map(({ attributes }) => attributes)).toMatchObject([
    {
      'cowork.approval_id': approval,
      'cowork.outcome': 'waiting',
      'cowork.mode': 'escalate',
      'error.type': 'approval_required',
    },
    { 'cowork.approval_id': approval, 'cowork.outcome': 'done', 'cowork.mode': 'escalate' },
  ])
  expect(named('cowork_halt')).toMatchObject([
    { attributes: { 'cowork.outcome': 'refused', 'error.type': 'human_required' } },
  ])
  const entries = body['entries'] as { ids?: { call?: string } }[]
  const recorded = entries.map(({ ids }) => ids?.call)
  for (const { attributes } of [...named('cowork_propose'), ...named('cowork_decide')])
    expect(recorded).toContain(attributes['cowork.call_id'])

  const counted = figures.get('cowork_calls_total')
  const points = counted && 'sum' in counted ? counted.sum.dataPoints : []
  const of = (name: string, outcome: string) =>
    points.find(({ attributes }) => {
      const labels = toRecord(attributes)
      return labels['tool'] === name && labels['outcome'] === outcome
    })?.asDouble
  expect([of('cowork_decide', 'done'), of('cowork_halt', 'refused')]).toEqual([2, 1])
  expect(figures.get('cowork_approvals_pending')).toMatchObject({
    gauge: { dataPoints: [{ asDouble: 0 }] },
  })
})

async function overMcp(app: TestApp, token: string, mode: 'auto' | 'legacy', headers: object) {
  const client = new Client({ name: 'tracer', version: '1' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } }
  await client.connect(new StreamableHTTPClientTransport(new URL(app.mcpUrl), { requestInit }))
  onTestFinished(() => client.close())
  return client
}

test.each(['auto', 'legacy'] as const)(
  'L13 the parent comes from the call, otherwise from its HTTP request (%s)',
  async (mode) => {
    const { app, token, collect } = await start()
    const log = { name: 'cowork_log', arguments: { domain: 'crm', action: 'a', target: 't' } }
    const named = await overMcp(app, token, mode, {})
    await named.callTool({ ...log, _meta: { traceparent } })
    const carried = await overMcp(app, token, mode, { traceparent })
    await carried.callTool(log)
    await carried.callTool({ ...log, _meta: { traceparent: 'nonsense' } })
    await named.callTool(log)
    await Promise.all([named.close(), carried.close()])
    const spans = (await collect()).named('cowork_log')
    expect(spans.map(({ traceId, parentSpanId }) => [traceId === trace, parentSpanId])).toEqual([
      [true, parent],
      [true, parent],
      [false, undefined],
      [false, undefined],
    ])
  },
)

test('L13 the API accepts the parent as a header', async () => {
  const { app, owner, sales, collect } = await start()
  const id = String((await sales.call('cowork_propose', proposal()))['proposal_id'])
  const headers = {
    authorization: `Bearer ${owner.token}`,
    'content-type': 'application/json',
    traceparent,
  }
  const decide = { method: 'POST', headers, body: '{"decision":"approve"}' }
  expect((await fetch(`${app.url}/api/approvals/${id}/decide`, decide)).status).toBe(200)
  const status = { method: 'POST', headers, body: '{"arguments":{}}' }
  await fetch(`${app.url}/api/tools/cowork_status/call`, status)
  const { named } = await collect()
  for (const name of ['cowork_decide', 'cowork_status'])
    expect(named(name)).toMatchObject([{ traceId: trace, parentSpanId: parent }])
})

test('L13 no argument, result or secret is exported, and the header reaches the collector', async () => {
  const { app, owner, sales, token, collect } = await start()
  const secrets = {
    target: 'TARGET-hidden1',
    proposed_change: { note: 'CHANGE-hidden2' },
    reasoning: 'REASONING-hidden3',
  }
  const made = await sales.call('cowork_propose', proposal(secrets))
  await owner.call('cowork_decide', {
    approval_ids: [made['proposal_id']],
    decision: 'reject',
    reason: 'REASON-hidden4',
    override: { type: 'agent_wrong', description: 'DESCRIPTION-hidden5' },
  })
  await sales.call('cowork_propose', { domain: 'WRONG-hidden6', nonsense: 'NONSENSE-hidden7' })
  await sales.call('TOOL-hidden8', {})
  const { requests } = await collect()
  const bodies = requests.map(({ body }) => body).join('\n')
  expect(bodies).toContain('cowork_propose')
  for (const hidden of ['-hidden', app.owner, token, 'collector-secret'])
    expect(bodies).not.toContain(hidden)
  for (const { headers } of requests) expect(headers.authorization).toBe(header)
})

test('L13 telemetry is off by default and opens no connection', async () => {
  const origins = async (settings: Said) => {
    const app = await startTestApp(settings)
    const asked = new Set<string>()
    const note = (message: unknown) => {
      const { request } = message as { request: { origin: string } }
      asked.add(request.origin)
    }
    subscribe('undici:request:create', note)
    try {
      await (await app.call('cowork_status')).text()
      await app.close()
    } finally {
      unsubscribe('undici:request:create', note)
    }
    return [...asked].filter((origin) => origin !== app.url)
  }
  expect(await origins({})).toEqual([])
  const { url } = await startCollector()
  expect(await origins({ 'server.otlp_endpoint': url })).toEqual([url])
})
