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
import { agentOf, newFolder, openPlace } from './files.ts'
import { clientOf } from './speakers.ts'

type Door = 'http' | 'stdio'
type Era = 'auto' | 'legacy'

/** What one agent hears of a file of the workspace and of grants, for as long as it is connected. */
async function watching(app: TestApp, token: string, door: Door, mode: Era) {
  const client = new Client({ name: 'watcher', version: '1' }, { versionNegotiation: { mode } })
  onTestFinished(() => client.close())
  const told: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    told.push(params.uri)
  })
  let ended = 0
  await client.connect(
    door === 'http' ? overHttp(app, token, () => ended++) : overStdio(app, token),
  )
  client.onclose = () => ended++
  const uris = ['workspace:///a.txt', 'cowork://grants']
  if (mode === 'legacy') for (const uri of uris) await client.subscribeResource({ uri })
  else await client.listen({ resourceSubscriptions: uris })
  return { told, hasEnded: () => ended > 0 }
}

function overStdio(app: TestApp, token: string): Transport {
  const socket = connectSocket(join(app.state, 'daemon.sock'))
  socket.write(`${JSON.stringify({ cowork: 1, token })}\n`)
  return createLineTransport(socket)
}

const isListen = (body: unknown) =>
  typeof body === 'string' && body.includes('subscriptions/listen')

/** Says when a stream that it opened is over. */
function overHttp(app: TestApp, token: string, over: () => void): Transport {
  const seen = async (url: string | URL, init?: RequestInit) => {
    const response = await fetch(url, init)
    const { body, headers } = response
    const isLasting = init?.method === 'GET' || isListen(init?.body)
    if (!body || !isLasting || !headers.get('content-type')?.includes('event-stream'))
      return response
    const watched = body.pipeThrough(new TransformStream({ flush: over }))
    return new Response(watched, { status: response.status, headers })
  }
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  return new StreamableHTTPClientTransport(new URL(app.mcpUrl), { requestInit, fetch: seen })
}

test.each([
  ['http', 'auto'],
  ['http', 'legacy'],
  ['stdio', 'auto'],
  ['stdio', 'legacy'],
] as const)(
  'I4 SV13 FT9 over %s in the %s era what a revoked agent has open ends, and it hears nothing more',
  async (door, mode) => {
    const { app, owner, token, workspace } = await openPlace()
    const other = await agentOf(app, 'reader')
    writeFileSync(join(workspace, 'a.txt'), 'one')
    const agent = await watching(app, token, door, mode)
    const reader = await watching(app, other.token, door, mode)
    await owner.call('cowork_revoke_agent', { id: 'writer' })
    await expect.poll(agent.hasEnded).toBe(true)
    expect(reader.hasEnded()).toBe(false)

    agent.told.length = 0
    writeFileSync(join(workspace, 'a.txt'), 'one and two')
    const given = { path: newFolder(), permission: 'read', agent: 'reader' }
    await owner.call('add_grant', given)
    await expect
      .poll(() => reader.told)
      .toEqual(expect.arrayContaining(['workspace:///a.txt', 'cowork://grants']))
    expect(agent.told).toEqual([])
  },
)

test('I4 SV13 what a token opened ends when it is rotated away, and what the new one opened does not', async () => {
  const { app, owner, token } = await openPlace()
  const before = await watching(app, token, 'http', 'auto')
  const rotated = await owner.call('cowork_rotate_agent', { id: 'writer', overlap_minutes: 1 })
  const now = await watching(app, String(rotated['token']), 'http', 'auto')
  expect(before.hasEnded()).toBe(false)
  const again = await owner.call('cowork_rotate_agent', { id: 'writer', overlap_minutes: 0 })
  await expect.poll(() => before.hasEnded() && now.hasEnded()).toBe(true)
  expect((await watching(app, String(again['token']), 'http', 'auto')).hasEnded()).toBe(false)
})

test('I4 J31 what it has open at another daemon ends, too', async () => {
  const url = await createTestDatabase(inject('postgresUrl'))
  const here = await startTestApp({ 'storage.url': url })
  onTestFinished(() => here.close())
  const shared = { 'storage.url': url, 'ledger.key_path': join(here.state, 'ledger.key') }
  const there = await startTestApp(shared)
  onTestFinished(() => there.close())
  const { token } = await agentOf(there, 'writer')
  const agent = await watching(there, token, 'http', 'auto')
  await clientOf(here, here.owner).call('cowork_revoke_agent', { id: 'writer' })
  await expect.poll(agent.hasEnded).toBe(true)
})

test('I4 SV6 a stream of the oldest revision ends with its agent', async () => {
  const { app, owner, token } = await openPlace({ 'server.transport': 'sse' })
  const headers = { authorization: `Bearer ${token}` }
  const stream = await fetch(`${app.url}/sse`, { headers })
  await owner.call('cowork_revoke_agent', { id: 'writer' })
  expect(await stream.text()).toMatch(/^event: endpoint\n/)
})
