import { SSEClientTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { startTestApp } from './app.ts'

test('SV6 TRANSPORT=sse serves clients of the 2024-11-05 revision', async () => {
  const app = await startTestApp({ 'server.transport': 'sse' })
  const client = new Client({ name: 'old', version: '1' })
  await client.connect(new SSEClientTransport(new URL(`${app.url}/sse`)))
  const { tools } = await client.listTools()
  expect(tools.map((tool) => tool.name)).toContain('cowork_status')
  const status = await client.callTool({
    name: 'cowork_status',
    arguments: { agent_id: 'old-one' },
  })
  expect(status.structuredContent ?? JSON.parse(JSON.stringify(status.content))).toBeDefined()
  expect(status.isError).toBeFalsy()
  await client.close()
  await app.close()
})

test('SV6 the legacy SSE endpoints are off by default', async () => {
  const app = await startTestApp()
  const reply = await fetch(`${app.url}/messages?session=x`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  expect(reply.status).toBe(404)
  await app.close()
})

test('I3 a legacy stream needs its token for every message, and a foreign stream is unknown', async () => {
  const tokens = ['a', 'b'].map((letter) => `sk-cowork-${letter.repeat(48)}`)
  const app = await startTestApp({
    'server.transport': 'sse',
    agents: [
      { id: 'one', token: tokens[0] },
      { id: 'two', token: tokens[1] },
    ],
  })
  const as = (token: string | undefined, path: string, body?: string) =>
    fetch(`${app.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body }),
    })
  expect((await as(undefined, '/sse')).status).toBe(401)
  const stream = await as(tokens[0], '/sse')
  const reader = stream.body?.getReader()
  const first = new TextDecoder().decode((await reader?.read())?.value)
  const path = /data: (\S+)/.exec(first)?.[1] ?? ''
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  expect((await as(undefined, path, ping)).status).toBe(401)
  expect((await as(tokens[1], path, ping)).status).toBe(404)
  expect((await as(tokens[0], path, 'nonsense')).status).toBe(400)
  expect((await as(tokens[0], path, ping)).status).toBe(202)
  await reader?.cancel()
  await app.close()
})
