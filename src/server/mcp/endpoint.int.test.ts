import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Transport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { startTestApp } from '../../../test/app.ts'
import type { TestApp } from '../../../test/app.ts'
import { createFixture } from '../../../test/conformance/conformance.fixture.ts'
import { createLineTransport } from './stdio.ts'

/** Reports the start and the end of a call to the test. */
const watched = { started: Promise.withResolvers<void>(), ended: Promise.withResolvers<string>() }

const hang = defineTool({
  name: 'hang',
  title: 'Hang',
  description: 'For the test',
  toolset: 'test',
  effect: 'read',
  by: 'anyone',
  input: z.object({}),
  output: z.object({}),
  read(_, { signal }) {
    watched.started.resolve()
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        watched.ended.resolve('stopped')
        reject(new Error('stopped'))
      })
    })
  },
})

let app: TestApp
beforeAll(async () => {
  const fixture = createFixture()
  app = await startTestApp({}, { fixture: { ...fixture, tools: [...fixture.tools, hang] } })
})
afterAll(() => app.close())

const doors = {
  http: () => new StreamableHTTPClientTransport(new URL(app.mcpUrl)),
  stdio: () => {
    const socket = connectSocket(join(app.state, 'daemon.sock'))
    socket.write('{"cowork":1,"agent":"piped"}\n')
    return createLineTransport(socket)
  },
} satisfies Record<string, () => Transport>

async function connect(door: keyof typeof doors, mode: 'legacy' | 'auto') {
  const client = new Client(
    { name: 'probe', version: '1' },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
  )
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { response: 'from a person' },
  }))
  await client.connect(doors[door]())
  return client
}

describe.each([
  ['http', 'legacy'],
  ['http', 'auto'],
  ['stdio', 'legacy'],
  ['stdio', 'auto'],
] as const)('over %s in the %s era', (door, era) => {
  test('SV10 a tool can ask the person behind the client', async () => {
    const client = await connect(door, era)
    const answer = await client.callTool({
      name: 'test_elicitation',
      arguments: { message: 'Well?' },
    })
    expect(JSON.stringify(answer.content)).toContain('from a person')
    await client.close()
  })

  test('SV14 a client that cancels stops the call', async () => {
    watched.started = Promise.withResolvers()
    watched.ended = Promise.withResolvers()
    const client = await connect(door, era)
    const abort = new AbortController()
    const call = client.callTool({ name: 'hang' }, { signal: abort.signal })
    await watched.started.promise
    abort.abort()
    await expect(call).rejects.toThrow('abort')
    await expect(watched.ended.promise).resolves.toBe('stopped')
    await client.close()
  })

  test('SV14 a disconnect stops the call unless the session stays open', async () => {
    watched.started = Promise.withResolvers()
    watched.ended = Promise.withResolvers()
    const client = await connect(door, era)
    const lost = client.callTool({ name: 'hang' }).catch(() => 'lost')
    await watched.started.promise
    // A legacy session survives a broken connection: only its end stops its calls.
    const { transport } = client
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession()
    await client.close()
    await expect(lost).resolves.toBe('lost')
    await expect(watched.ended.promise).resolves.toBe('stopped')
  })
})

test('SV11 SV17 toolsets have paths, and the default list has at most 4,000 tokens', async () => {
  const list = async (address: string) => {
    const client = new Client(
      { name: 'probe', version: '1' },
      { versionNegotiation: { mode: 'auto' } },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(address, app.url)))
    const { tools } = await client.listTools()
    await client.close()
    return tools
  }
  const all = (await list('/mcp')).map(({ name }) => name)
  expect(all).toEqual(all.toSorted())
  const own = (await list('/mcp/test')).map(({ name }) => name)
  expect(own).toEqual(['cowork_check_approval', 'cowork_find_tools', 'cowork_use', 'hang'])
  expect(await list('/mcp?tools=core')).toEqual(await list('/mcp'))
  expect(JSON.stringify({ tools: await list('/mcp') }).length / 4).toBeLessThanOrEqual(4000)
  const none = await fetch(`${app.url}/mcp/nothing`)
  expect(none.status).toBe(404)
})
