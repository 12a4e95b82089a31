import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Transport } from '@modelcontextprotocol/client'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createLineTransport } from '../src/server/mcp/stdio.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { createTestDatabase } from './databases.ts'
import { addAgent, newFolder, openPlace } from './files.ts'
import { createClient, proposed } from './speakers.ts'

type Door = 'http' | 'stdio'
type Era = 'auto' | 'legacy'

/** Connects an agent that watches a workspace file and its grants, and collects the updates. */
async function watching(app: TestApp, token: string | undefined, door: Door, mode: Era) {
  const client = new Client({ name: 'watcher', version: '1' }, { versionNegotiation: { mode } })
  onTestFinished(() => client.close())
  const updates: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    updates.push(params.uri)
  })
  let ended = 0
  await client.connect(
    door === 'http' ? overHttp(app, token, () => ended++) : overStdio(app, token),
  )
  client.onclose = () => ended++
  const uris = ['workspace:///a.txt', 'cowork://grants']
  if (mode === 'legacy') for (const uri of uris) await client.subscribeResource({ uri })
  else await client.listen({ resourceSubscriptions: uris })
  return { client, updates, hasEnded: () => ended > 0 }
}

function overStdio(app: TestApp, token: string | undefined): Transport {
  const socket = connectSocket(join(app.state, 'daemon.sock'))
  socket.write(`${JSON.stringify({ cowork: 1, token })}\n`)
  return createLineTransport(socket)
}

const isListen = (body: unknown) =>
  typeof body === 'string' && body.includes('subscriptions/listen')

/** Says when a stream that it opened is over. */
function overHttp(app: TestApp, token: string | undefined, over: () => void): Transport {
  const seen = async (url: string | URL, init?: RequestInit) => {
    const response = await fetch(url, init)
    const { body, headers } = response
    const isLasting = init?.method === 'GET' || isListen(init?.body)
    if (!body || !isLasting || !headers.get('content-type')?.includes('event-stream'))
      return response
    const watched = body.pipeThrough(new TransformStream({ flush: over }))
    return new Response(watched, { status: response.status, headers })
  }
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }
  return new StreamableHTTPClientTransport(new URL(app.mcpUrl), { requestInit, fetch: seen })
}

const doors = [
  ['http', 'auto'],
  ['http', 'legacy'],
  ['stdio', 'auto'],
  ['stdio', 'legacy'],
] as const

test.each(doors)(
  'I4 SV13 FT9 over %s in the %s era the connections of a revoked agent end without further notifications',
  async (door, mode) => {
    const { app, owner, token, workspace } = await openPlace()
    const other = await addAgent(app, 'reader')
    writeFileSync(join(workspace, 'a.txt'), 'one')
    const agent = await watching(app, token, door, mode)
    const reader = await watching(app, other.token, door, mode)
    await owner.call('cowork_revoke_agent', { id: 'writer' })
    await expect.poll(agent.hasEnded).toBe(true)
    expect(reader.hasEnded()).toBe(false)

    agent.updates.length = 0
    writeFileSync(join(workspace, 'a.txt'), 'one and two')
    const given = { path: newFolder(), permission: 'read', agent: 'reader' }
    await owner.call('add_grant', given)
    await expect
      .poll(() => reader.updates)
      .toEqual(expect.arrayContaining(['workspace:///a.txt', 'cowork://grants']))
    expect(agent.updates).toEqual([])
  },
)

test('I4 SV13 connections of a rotated token end, those of the new token do not', async () => {
  const { app, owner, token } = await openPlace()
  const before = await watching(app, token, 'http', 'auto')
  const rotated = await owner.call('cowork_rotate_agent', { id: 'writer', overlap_minutes: 1 })
  const now = await watching(app, String(rotated['token']), 'http', 'auto')
  expect(before.hasEnded()).toBe(false)
  const again = await owner.call('cowork_rotate_agent', { id: 'writer', overlap_minutes: 0 })
  await expect.poll(() => before.hasEnded() && now.hasEnded()).toBe(true)
  expect((await watching(app, String(again['token']), 'http', 'auto')).hasEnded()).toBe(false)
})

test('I4 J31 connections at another daemon end, too', async () => {
  const url = await createTestDatabase(inject('postgresUrl'))
  const here = await startTestApp({ 'storage.url': url })
  onTestFinished(() => here.close())
  const shared = { 'storage.url': url, 'ledger.key_path': join(here.state, 'ledger.key') }
  const there = await startTestApp(shared)
  onTestFinished(() => there.close())
  const { token } = await addAgent(there, 'writer')
  const agent = await watching(there, token, 'http', 'auto')
  await createClient(here, here.owner).call('cowork_revoke_agent', { id: 'writer' })
  await expect.poll(agent.hasEnded).toBe(true)
})

test('I4 SV6 a legacy SSE stream ends with its agent', async () => {
  const { app, owner, token } = await openPlace({ 'server.transport': 'sse' })
  const headers = { authorization: `Bearer ${token}` }
  const stream = await fetch(`${app.url}/sse`, { headers })
  await owner.call('cowork_revoke_agent', { id: 'writer' })
  expect(await stream.text()).toMatch(/^event: endpoint\n/)
})

type Posted = { readonly id?: number; readonly method: string; readonly params?: object }

/** A client of the oldest revision, which takes any token for any message. */
async function openOld(app: TestApp, token?: string) {
  const as = (bearer?: string) => (bearer ? { authorization: `Bearer ${bearer}` } : undefined)
  const headers = as(token)
  const stream = await fetch(`${app.url}/sse`, { ...(headers && { headers }) })
  let received = ''
  const over = stream.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeTo(new WritableStream({ write: (text) => void (received += text) }))
  await expect.poll(() => received).toContain('data: ')
  const path = /data: (\S+)/.exec(received)?.[1] ?? ''
  const post = (message: Posted, bearer = token) =>
    fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...as(bearer) },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
  const info = { clientInfo: { name: 'old', version: '1' }, capabilities: {} }
  await post({ id: 1, method: 'initialize', params: { protocolVersion: '2024-11-05', ...info } })
  await post({ method: 'notifications/initialized' })
  return {
    over,
    async ask(id: number, bearer?: string): Promise<string> {
      const params = { name: 'cowork_status', arguments: {} }
      await post({ id, method: 'tools/call', params }, bearer)
      const answer = new RegExp(`^data: (.*"id":${id}\\b.*)$`, 'm')
      await expect.poll(() => received).toMatch(answer)
      return answer.exec(received)?.[1] ?? ''
    },
  }
}

test('I4 SV6 a legacy SSE stream that uses the new token survives the end of the old one', async () => {
  let later = 0
  const now = () => Date.now() + later
  const { app, owner, token } = await openPlace({ 'server.transport': 'sse' }, { now })
  const { ask } = await openOld(app, token)
  const rotated = await owner.call('cowork_rotate_agent', { id: 'writer', overlap_minutes: 1 })
  const newer = String(rotated['token'])
  expect(await ask(2, newer)).not.toContain('auth_error')
  later += 61_000
  expect(await ask(3, newer)).not.toContain('auth_error')
})

/** Waits for a person. */
const waitFor = (client: Client, id: string, more: object = {}) =>
  client.callTool({
    name: 'cowork_check_approval',
    arguments: { approval_id: id, wait_seconds: 20, ...more },
  })

test.each(doors)(
  'I4 I13 over %s in the %s era a running call returns AuthError when its agent is revoked',
  async (door, mode) => {
    const { app, owner, token, api } = await openPlace()
    const id = await proposed(api)
    const { client } = await watching(app, token, door, mode)
    const answer = waitFor(client, id)
    await client.listTools()
    await owner.call('cowork_revoke_agent', { id: 'writer' })
    await owner.ask(`/api/approvals/${id}/decide`, { decision: 'approve' })
    const { isError, content } = await answer
    expect(isError).toBe(true)
    expect(JSON.stringify(content)).toContain('cowork agents')
    expect(JSON.stringify(content)).not.toContain('approved')
  },
)

test('I4 a call with its own token is not affected by other tokens', async () => {
  const { app, owner, token, api } = await openPlace()
  const id = await proposed(api)
  const client = new Client({ name: 'bare', version: '1' })
  await client.connect(overStdio(app, undefined))
  onTestFinished(() => client.close())
  const answer = waitFor(client, id, { agent_token: token })
  await owner.call('cowork_add_agent', { id: 'another' })
  const decided = await owner.ask(`/api/approvals/${id}/decide`, { decision: 'approve' })
  expect(decided.status).toBe(200)
  expect(await answer).toMatchObject({ structuredContent: { status: 'approved' } })
})

test.each(doors)(
  'I5 I13 over %s in the %s era a client without a token gets no notifications after authentication is turned on',
  async (door, mode) => {
    const app = await startTestApp()
    onTestFinished(() => app.close())
    writeFileSync(join(app.workspace, 'a.txt'), 'one')
    const open = await watching(app, undefined, door, mode)
    writeFileSync(join(app.workspace, 'a.txt'), 'one and two')
    await expect.poll(() => open.updates).toContain('workspace:///a.txt')
    const { token } = await addAgent(app, 'first')
    // Over stdio a call may still bring its token.
    await expect.poll(open.hasEnded).toBe(door === 'http')
    const reader = await watching(app, token, door, mode)

    open.updates.length = 0
    writeFileSync(join(app.workspace, 'a.txt'), 'one and two and three')
    const given = { path: newFolder(), permission: 'read', agent: 'first' }
    await createClient(app, app.owner).call('add_grant', given)
    await expect
      .poll(() => reader.updates)
      .toEqual(expect.arrayContaining(['workspace:///a.txt', 'cowork://grants']))
    expect(open.updates).toEqual([])
    if (door === 'http') return
    const own = { agent_token: token }
    const answer = await open.client.callTool({ name: 'cowork_status', arguments: own })
    expect(answer.isError).toBeFalsy()
  },
)

test('I5 SV6 a legacy SSE stream without a token ends when authentication is turned on', async () => {
  const app = await startTestApp({ 'server.transport': 'sse' })
  onTestFinished(() => app.close())
  const { over } = await openOld(app)
  await addAgent(app, 'first')
  await expect(over).resolves.toBeUndefined()
})

test('I4 SV4 a revoked agent that never disconnects is disconnected', async () => {
  const { app, owner, token } = await openPlace()
  const socket = connectSocket({ path: join(app.state, 'daemon.sock'), allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  let isCut = false
  socket.on('error', () => (isCut = true))
  const ping = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`
  socket.write(`${JSON.stringify({ cowork: 1, token })}\n${ping}`)
  await once(socket, 'readable')
  await owner.call('cowork_revoke_agent', { id: 'writer' })
  // Half a connection still takes what it is sent.
  const refuses = () => {
    socket.write(ping)
    return isCut
  }
  await expect.poll(refuses, { timeout: 10_000 }).toBe(true)
})
