import { duplexPair } from 'node:stream'
import { expect, test } from 'vitest'
import { anna } from '../../../test/acts.ts'
import {
  connect,
  initialize,
  modernCall,
  openRig,
  post,
  sales,
  support,
  tools,
  waiting,
} from '../../../test/mcp-door.ts'

test('SV10 a session belongs to its creator', async () => {
  const rig = await openRig({ tools, agents: [sales, support] })
  const opened = await post(rig, initialize(), { arrival: { bearer: sales.token } })
  const id = opened.headers.get('mcp-session-id') ?? ''
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
  const ask = async (session: string, bearer?: string) => {
    const response = await post(rig, list, {
      headers: { 'mcp-session-id': session },
      arrival: bearer === undefined ? {} : { bearer },
    })
    await response.body?.cancel()
    return response.status
  }
  expect(await ask(id, sales.token)).toBe(200)
  expect(await ask(id, support.token)).toBe(404)
  expect(await ask(id)).toBe(404)
  expect(await ask('no-such-session', sales.token)).toBe(404)
  const none = await post(rig, list, { arrival: { bearer: sales.token } })
  expect(none.status).toBe(400)
})

test('SV10 sessions without a token have a separate limit', async () => {
  const rig = await openRig({ tools, agents: [sales], limits: { maxSessions: 100 } })
  const open = async (arrival = {}) => (await post(rig, initialize(), { arrival })).status
  const statuses = await Promise.all(Array.from({ length: 17 }, () => open()))
  expect(statuses.filter((status) => status === 200)).toHaveLength(16)
  expect(statuses.filter((status) => status === 503)).toHaveLength(1)
  expect(await open({ bearer: sales.token })).toBe(200)
})

test('SV10 sessions are limited, ended when idle and ended by DELETE', async () => {
  let at = Date.now()
  const limits = { maxSessions: 2, idleMs: 1000 }
  const rig = await openRig({ tools, limits, now: () => at })
  const start = async () => (await post(rig, initialize())).headers.get('mcp-session-id') ?? ''
  const [one, two] = [await start(), await start()]
  expect(rig.door.sessionCount()).toBe(2)
  const full = await post(rig, initialize())
  expect(full.status).toBe(503)
  expect(full.headers.get('retry-after')).toMatch(/^\d+$/)

  const end = new Request('http://test/mcp', {
    method: 'DELETE',
    headers: { 'mcp-session-id': one },
  })
  expect((await rig.door.fetch(end, { address: 'x' })).status).toBe(200)
  expect(rig.door.sessionCount()).toBe(1)

  const ping = { jsonrpc: '2.0', id: 3, method: 'ping' }
  const gone = await post(rig, ping, { headers: { 'mcp-session-id': one } })
  expect(gone.status).toBe(404)

  at += 1001
  await start()
  expect(rig.door.sessionCount()).toBe(1)
  const late = await post(rig, ping, { headers: { 'mcp-session-id': two } })
  expect(late.status).toBe(200)
})

test('SV10 RA4 a session continues after a restart without its grants', async () => {
  const before = await openRig({ tools, agents: [sales, support] })
  const arrival = { bearer: sales.token }
  const opened = await post(before, initialize(), { arrival })
  const id = opened.headers.get('mcp-session-id') ?? ''
  const rig = await openRig({ tools, agents: [sales, support] })
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
  const params = { name: 'echo', arguments: { word: 'x' } }
  const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params }
  const answer = await post(rig, call, { headers, arrival })
  expect(answer.status).toBe(200)
  const text = await answer.text()
  expect(text).toMatch(/"id":7/)
  expect(text).toMatch(/"caller":"sales"/)
  expect(text).not.toContain(`"session":"${id}"`)
  const other = await post(rig, call, { headers, arrival: { bearer: support.token } })
  expect(other.status).toBe(404)
  // A client that opens another session must leave the old one.
  expect((await post(rig, initialize(), { headers, arrival: { ...arrival } })).status).not.toBe(404)
  const late = {
    ...headers,
    'mcp-session-id': id.replace(/.$/, (end) => (end === '0' ? '1' : '0')),
  }
  expect((await post(rig, initialize(), { headers: late, arrival })).status).toBe(404)
  const odd = { ...headers, 'mcp-session-id': 'no-such-session' }
  expect((await post(rig, call, { headers: odd, arrival })).status).toBe(404)
})

test('I12 GR5 the end of a session by its client reaches followers', async () => {
  const rig = await openRig()
  const ended: string[] = []
  rig.identity.sessions.onEnd((session) => void ended.push(session))
  const opened = await post(rig, initialize())
  const id = opened.headers.get('mcp-session-id') ?? ''
  const headers = { 'mcp-session-id': id }
  const call = { name: 'echo', arguments: { word: 'x' } }
  const asked = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call }
  await (await post(rig, asked, { headers })).text()
  expect(rig.identity.sessions.has(id)).toBe(true)
  await rig.door.fetch(new Request('http://test/mcp', { method: 'DELETE', headers }), {
    address: '127.0.0.1',
  })
  expect(ended).toEqual([id])
  expect(rig.identity.sessions.has(id)).toBe(false)
})

test('I12 GR5 a legacy SSE stream is a session that ends with it', async () => {
  const rig = await openRig()
  const ended: string[] = []
  rig.identity.sessions.onEnd((session) => void ended.push(session))
  const arrival = { address: '127.0.0.1' }
  const stream = await rig.door.fetch(new Request('http://test/sse'), { ...arrival, legacySse: {} })
  const reader = stream.body?.getReader()
  const first = new TextDecoder().decode((await reader?.read())?.value)
  const [, id = ''] = /session=(\S+)/.exec(first) ?? []
  const call = { name: 'echo', arguments: { word: 'x' } }
  for (const message of [
    initialize(),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call },
  ])
    await post(rig, message, { arrival: { legacySse: { stream: id } } })
  await expect.poll(() => rig.identity.sessions.has(id)).toBe(true)
  await reader?.cancel()
  expect(ended).toEqual([id])
})

test('SV10 a session with a running call or a listener is not idle', async () => {
  let at = Date.now()
  const { wait, started, release } = waiting()
  const rig = await openRig({ tools: [wait], limits: { idleMs: 1000 }, now: () => at })
  const client = await connect(rig, 'legacy')
  const call = client.callTool({ name: 'wait' })
  await started
  at += 5000
  await post(rig, initialize())
  release()
  await expect(call).resolves.toMatchObject({ content: [{ text: '"done"' }] })
})

test('I4 sessions of a rotated token end with its grace period', async () => {
  let at = Date.now()
  const rig = await openRig({ limits: { idleMs: 20 }, now: () => at })
  const by = { id: 'c', caller: anna }
  const { token } = await rig.ledger.transact((tx) => rig.identity.addAgent(tx, { id: 'ops' }, by))
  const [, there] = duplexPair()
  let isServed = true
  void rig.door.serve(there, { token }).then(() => (isServed = false))
  const given = { id: 'ops', overlapMinutes: 1 }
  await rig.ledger.transact((tx) => rig.identity.rotateAgent(tx, given, by))
  await rig.identity.listAgents()
  expect(isServed).toBe(true)
  at += 60_000
  await expect.poll(() => isServed).toBe(false)
})

test('SV13 a refused subscription leaves no watch', async () => {
  const watched: AbortSignal[] = []
  const feature = {
    capabilities: { resources: { subscribe: true } },
    attach: () => undefined,
    subscribe: (_: unknown, uris: readonly string[], signal: AbortSignal) => {
      watched.push(signal)
      return Promise.resolve(uris)
    },
  }
  const rig = await openRig({ features: [feature] })
  const listen = (notifications: object) => {
    const { body, headers } = modernCall('', {}, 'subscriptions/listen')
    const { name: _, arguments: __, ...params } = body.params
    return post(rig, { ...body, params: { ...params, notifications } }, { headers })
  }
  const uris = { resourceSubscriptions: ['x:///a'] }
  const refused = await listen({ ...uris, toolsListChanged: 'always' })
  expect(await refused.json()).toMatchObject({ error: { code: -32602 } })
  const heard = await listen(uris)
  expect(watched.map(({ aborted }) => aborted)).toEqual([true, false])
  await heard.body?.cancel()
  expect(watched.map(({ aborted }) => aborted)).toEqual([true, true])
})
