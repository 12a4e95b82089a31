// An agent can learn nothing about checks of its autonomous actions before they are answered (T14).
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../src/base/ids.ts'
import { statePaths } from '../src/base/state.ts'
import { computeDraw } from '../src/governance/rules/standing.ts'
import { loadOrCreateKey } from '../src/ledger/key-file.ts'
import { createLineTransport } from '../src/server/mcp/stdio.ts'
import { actingTool, storingTool } from './acting.ts'
import { proposal } from './acts.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { listen } from './events.ts'

const noTasks = {
  get: () => Promise.resolve(undefined),
  update: () => Promise.resolve(false),
  cancel: () => Promise.resolve(false),
}
const tools = [actingTool('crm', 'write').tool, storingTool('crm')]
let app: TestApp
beforeAll(async () => {
  app = await startTestApp({}, { fixture: { tools, features: [], tasks: noTasks } })
})
afterAll(() => app.close())

type Json = Record<string, unknown>
const get = async (path: string, token: string): Promise<unknown> => {
  const reply = await fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const body = await reply.text()
  return reply.headers.get('content-type')?.includes('json') ? JSON.parse(body) : body
}
const size = async () => ((await get('/api/ledger?limit=0', app.owner)) as { size: number }).size

/** The pending checks, for people. */
async function checksOf(agent: string): Promise<{ id: string; target: string }[]> {
  const path = `/api/approvals?kind=spot_check&agent=${agent}`
  return ((await get(path, app.owner)) as { items: { id: string; target: string }[] }).items
}

const isDrawn = (id: string, rate = 0.5) => {
  const key = loadOrCreateKey(statePaths(app.state), undefined).derive('spot checks')
  return computeDraw(key, id) < rate
}

/** A vouched agent with every interface that it can read. */
async function enter(id: string) {
  const scopes = ['*', 'read:metrics']
  const added = await app.call('cowork_add_agent', { id, scopes })
  const { token } = ((await added.json()) as { output: { token: string } }).output
  const known = { agent_id: id, domain: 'crm', score: 0.9, reason: 'known from before' }
  await app.call('cowork_set_trust', known)
  const socket = connectSocket(join(app.state, 'daemon.sock'))
  socket.write(`${JSON.stringify({ cowork: 1, token })}\n`)
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const doors = {
    http: new StreamableHTTPClientTransport(new URL(app.mcpUrl), { requestInit }),
    stdio: createLineTransport(socket),
  }
  const details = new Set<string>()
  const open = async (door: keyof typeof doors) => {
    const client = new Client(
      { name: 'hostile', version: '1' },
      { versionNegotiation: { mode: 'legacy' } },
    )
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      details.add(`${door} ${params.uri}`)
    })
    await client.connect(doors[door])
    for (const uri of ['ledger://head', 'cowork://inbox']) await client.subscribeResource({ uri })
    return client
  }
  const [http, stdio] = [await open('http'), await open('stdio')]
  const stream = await listen(app, { token })
  /** Waits for the entry of each call: otherwise reads would depend on timing. */
  let recorded = await size()
  const isRecorded = async (entries: number) => {
    recorded += entries
    await expect.poll(size).toBeGreaterThanOrEqual(recorded)
  }
  return {
    id,
    token,
    details,
    stream,
    start: recorded,
    async call(client: Client, name: string, args: object, entries = 1): Promise<Json> {
      const result = await client.callTool({ name, arguments: { ...args } })
      await isRecorded(entries)
      return (result.structuredContent ?? result) as Json
    },
    async rest(name: string, args: object, entries = 1): Promise<Json> {
      const response = (await (await app.call(name, { ...args }, token)).json()) as Json
      await isRecorded(entries)
      return response
    },
    isRecorded,
    /** Longer than opening a check takes. */
    async quiet() {
      await sleep(400)
      recorded = await size()
    },
    http,
    stdio,
    async close() {
      stream.close()
      await http.close()
      await stdio.close()
    },
  }
}
type Agent = Awaited<ReturnType<typeof enter>>

/** Everything the agent can read, through every interface. */
async function look(agent: Agent, proposals: readonly string[]) {
  const { http, stdio, token } = agent
  const read = async (uri: string) => {
    const { contents } = await http.readResource({ uri })
    return contents.map((content) => ('text' in content ? JSON.parse(content.text) : content))
  }
  const complete = (uri: string, name: string) =>
    stdio.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value: '' } })
  const seen: Json = {}
  for (const [name, args] of [
    ['cowork_status', { include_timeline: true, timeline_limit: 200 }],
    ['cowork_check_trust', { domain: 'crm' }],
    ['cowork_trust_history', { domain: 'crm' }],
    ['cowork_governance_report', {}],
    ['cowork_quality_metrics', {}],
    ['get_audit_log', { limit: 200 }],
  ] as const)
    seen[name] = await agent.call(http, name, args)
  for (const [at, id] of proposals.entries()) {
    const about = { approval_id: id }
    seen[`check ${at}`] = await agent.call(stdio, 'cowork_check_approval', about)
    seen[`trail ${at}`] = await agent.call(stdio, 'cowork_audit_trail', { proposal_id: id })
    seen[`approval ${at}`] = await read(`cowork://approval/${id}`)
    seen[`rest ${at}`] = await get(`/api/approvals/${id}`, token)
  }
  const { resources } = await stdio.listResources()
  await agent.isRecorded(1)
  seen['list'] = resources
  const isOfThis = /^(ledger:|cowork:\/\/(inbox|approval))/
  const uris = resources.map(({ uri }) => uri).filter((uri) => isOfThis.test(uri))
  seen['resources'] = await Promise.all(uris.map(read))
  seen['ids'] = await complete('cowork://approval/{id}', 'id')
  seen['seqs'] = await complete('ledger://entry/{seq}', 'seq')
  for (const path of [
    '/api/approvals?status=all',
    '/api/approvals?status=pending',
    '/api/approvals?status=decided',
    '/api/approvals?status=all&kind=spot_check',
    '/api/ledger?limit=1000',
    `/api/ledger?limit=1000&after=${agent.start}`,
  ])
    seen[path.replace(/=spot_check|\d+$/, '')] = await get(path, token)
  const metrics = String(await get('/metrics', token))
  seen['metrics'] = metrics.split('\n').filter((line) => line.startsWith('cowork_approvals'))
  return seen
}

/** Normalizes the reads of an agent: without names, ids, times and hashes, and with entry numbers from its first. */
function leveled({ id, start }: Agent, seen: unknown): unknown {
  const words = (text: string) =>
    text
      .replaceAll(id, 'agent')
      .replaceAll(/(?<=entry[-/])\d+|^\d+(?= \w+\.)/g, (seq) => `${Number(seq) - start}`)
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17}/g, '<id>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/[0-9a-f]{16,}/g, '<hash>')
  const numbers = new Set(['id', 'seq', 'size', 'next'])
  const times = new Set(['at', 'ms', 'since', 'notedAt', 'decay_days'])
  const walk = (value: unknown, key = ''): unknown => {
    // Signed every second, independent of actions.
    if (key === 'checkpoint') return '<checkpoint>'
    if (Array.isArray(value)) return value.map((one) => walk(one, key))
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(
        Object.entries(value).map(([name, one]) => [words(name), walk(one, name)]),
      )
    if (typeof value === 'number' && times.has(key)) return '<time>'
    if (typeof value === 'number' && numbers.has(key)) return value - start
    if (/^\d+$/.test(String(value)) && key === 'values') return Number(value) - start
    return typeof value === 'string' ? words(value) : value
  }
  return walk(seen)
}

const actions = [
  async (agent: Agent) => agent.call(agent.http, 'cowork_propose', proposal(), 1),
  async (agent: Agent) => agent.call(agent.stdio, 'crm_write', { path: '/a' }, 2),
  async (agent: Agent) => agent.rest('crm_store', { path: '/b' }, 2),
  // A repeat, as after a lost reply (P6).
  async (agent: Agent) => {
    const same = { ...proposal({ target: 'deal-2' }), idempotency_key: 'once' }
    const [one, other] = await Promise.all([
      agent.call(agent.http, 'cowork_propose', same, 0),
      agent.call(agent.stdio, 'cowork_propose', same, 0),
    ])
    expect(one).toEqual(other)
    return one
  },
]

/** One run: each action and everything readable afterwards; with the draws, which only the test knows. */
async function live(id: string) {
  const agent = await enter(id)
  const observed: unknown[] = []
  const proposals: string[] = []
  for (const act of actions) {
    const response = await act(agent)
    observed.push(response)
    if (typeof response['proposal_id'] === 'string') proposals.push(response['proposal_id'])
    await agent.quiet()
    observed.push(await look(agent, proposals))
  }
  const entries = (await get(`/api/ledger?actor=${id}&limit=1000`, app.owner)) as {
    entries: { ids: { call?: string; proposal?: string }; type: string; data?: Json }[]
  }
  const alone = entries.entries.flatMap(({ ids, type, data }) => {
    const isCall = type !== 'proposal.created' && (data?.['decision'] as Json)?.['by'] === 'trust'
    const act = type === 'proposal.created' ? ids.proposal : isCall ? ids.call : undefined
    return act === undefined ? [] : [act]
  })
  const drawn = alone.map((one) => isDrawn(one))
  expect(drawn).toHaveLength(actions.length)
  const checks = await checksOf(id)
  expect(checks).toHaveLength(drawn.filter(Boolean).length)
  await agent.quiet()
  observed.push([...agent.details].toSorted(), agent.stream.heard)
  return { agent, drawn, checks, observed: leveled(agent, observed) }
}

/** The reply of each interface about an approval that the agent must not know. */
async function probe({ http, stdio, token }: Agent, id: string) {
  const ask = async (name: string, args: object) => {
    const { content, isError } = await stdio.callTool({ name, arguments: { ...args } })
    return { content, isError }
  }
  const override = { override_type: 'agent_wrong', description: 'x', action_description: 'x' }
  const summary = [
    await ask('cowork_check_approval', { approval_id: id }),
    await ask('cowork_check_approval', { proposal_id: id, wait_seconds: 1 }),
    await ask('cowork_withdraw', { approval_id: id }),
    await ask('cowork_audit_trail', { proposal_id: id }),
    await ask('cowork_approve', { proposal_id: id }),
    await ask('cowork_decide', { approval_ids: [id], decision: 'approve' }),
    await ask('cowork_override', { agent_id: 'x', domain: 'crm', proposal_id: id, ...override }),
    await ask('cowork_check_handoff', { handoff_id: id }),
    await ask('cowork_log', { domain: 'crm', action: 'a', target: 't', proposal_id: id }),
    await http.readResource({ uri: `cowork://approval/${id}` }).catch(String),
    await get(`/api/approvals/${id}`, token),
    await get(`/api/approvals?status=all&ids=${id}`, token),
  ]
  const made = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17}/g
  return JSON.stringify(summary)
    .replaceAll(made, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
}

describe('an agent over HTTP, the bridge and the API', () => {
  test('RS10 T14 the agent reads the same for any draws', { timeout: 180_000 }, async () => {
    const lives = []
    for (let n = 10; n < 18; n++) lives.push(await live(`agent-${n}`))
    const [first, ...others] = lives
    const patterns = new Set(lives.map(({ drawn }) => drawn.join()))
    expect(patterns.size).toBeGreaterThan(1)
    for (const { observed } of others) expect(observed).toEqual(first?.observed)
    expect(JSON.stringify(first?.observed)).not.toMatch(/spot|unread|look_back/)
    for (const { agent } of lives) await agent.close()
  })

  test('RS10 T14 a request for a check gets the reply for an unknown id', async () => {
    const agent = await enter('guessing')
    let checks = await checksOf('guessing')
    for (let n = 0; checks.length === 0; n++) {
      await agent.call(agent.http, 'cowork_propose', proposal({ target: `deal-${n}` }))
      await agent.quiet()
      checks = await checksOf('guessing')
    }
    const [found] = checks
    expect(await probe(agent, found?.id ?? '')).toBe(await probe(agent, newId()))
    await agent.close()
  })

  test('RS10 T14 six unread checks close the gate, and the agent cannot see the cause', async () => {
    const agent = await enter('unattended')
    const { token, http, stdio } = agent
    const owner = proposal({ proposed_change: { owner: 'me' } })
    const { proposal_id: earlier } = await agent.call(http, 'cowork_propose', owner)
    let response: Json = { mode: 'act' }
    while (response['mode'] === 'act') {
      response = await agent.call(http, 'cowork_propose', proposal())
      await agent.quiet()
    }
    expect(await checksOf('unattended')).toHaveLength(6)
    expect(response).toMatchObject({ mode: 'suggest', gated: true, to_go: 0 })
    const waiting = await agent.call(stdio, 'crm_write', { path: '/a' })
    expect(JSON.stringify(waiting)).toContain('approval_required')
    const { items } = (await get('/api/approvals', token)) as { items: { id: string }[] }
    expect(items).toHaveLength(3)
    const ids = items.map(({ id }) => id)
    expect(ids).toContain(earlier)
    const observed = JSON.stringify([response, waiting, await look(agent, ids)])
    expect(observed).not.toMatch(/spot|unread|closed_by|checks? (of|wait)/)
    const forPeople = await Promise.all(ids.map((id) => get(`/api/approvals/${id}`, app.owner)))
    expect(JSON.stringify(forPeople)).toContain('spot checks of its autonomous actions are unread')
    // The recorded reason of the decided requests is also the same.
    const decide = { approval_ids: ids, decision: 'approve' }
    expect((await app.call('cowork_decide', decide)).status).toBe(200)
    const after = await look(agent, ids)
    expect(JSON.stringify(after)).not.toMatch(/spot|unread|closed_by|checks? (of|wait)/)
    await agent.close()
  })
})
