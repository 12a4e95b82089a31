import { duplexPair } from 'node:stream'
import type { Duplex } from 'node:stream'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { createRig } from '../../../test/conformance/rig.ts'
import type { RigOptions } from '../../../test/conformance/rig.ts'
import type { BridgeHello } from './connections.ts'
import { createLineTransport } from './stdio.ts'

const echo = defineTool({
  name: 'echo',
  title: 'Echo',
  description: 'For the test',
  toolset: 'files',
  effect: 'read',
  by: 'anyone',
  core: true,
  input: z.object({ word: z.string() }),
  output: z.object({ word: z.string(), caller: z.string(), session: z.string() }),
  read: ({ word }, { caller }) =>
    Promise.resolve({ word, caller: caller.id, session: caller.session }),
})
const sales = { id: 'sales', token: 'sk-cowork-sales' }

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

async function plug(hello: BridgeHello = {}, options: RigOptions = {}) {
  const rig = await createRig({ tools: [echo], ...options })
  open.push(rig)
  const [here, there] = duplexPair()
  const served = rig.door.serve(there, hello)
  return { rig, here, served }
}

async function connect(stream: Duplex, mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client({ name: 'probe', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(createLineTransport(stream))
  open.push(client)
  return client
}

/** Writes lines and returns the responses in order. */
function lines(stream: Duplex) {
  const answers = createInterface({ input: stream })[Symbol.asyncIterator]()
  return {
    send: (line: unknown) =>
      stream.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`),
    next: async () => z.looseObject({}).parse(JSON.parse((await answers.next()).value ?? 'null')),
  }
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '0' },
  },
}

describe.each(['legacy', 'auto'] as const)('%s era over stdio', (era) => {
  test('SV10 a client of this era lists and calls tools', async () => {
    const { here } = await plug({ agent: 'main' })
    const client = await connect(here, era)
    expect(client.getNegotiatedProtocolVersion()).toBe(era === 'auto' ? '2026-07-28' : '2025-11-25')
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['echo'])
    const answer = await client.callTool({ name: 'echo', arguments: { word: 'hello' } })
    expect(answer.structuredContent).toMatchObject({ word: 'hello', caller: 'main' })
  })

  test('SV10 a changed tool list is announced', async () => {
    const { rig, here } = await plug()
    const onChanged = vi.fn<() => void>()
    const client = new Client(
      { name: 'probe', version: '1' },
      {
        versionNegotiation: { mode: era },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
      },
    )
    await client.connect(createLineTransport(here))
    open.push(client)
    await vi.waitFor(() => {
      rig.door.toolsChanged()
      expect(onChanged).toHaveBeenCalled()
    }, 10_000)
  })

  test('I13 RA7 without a token, tools are listed and calls get an AuthError with a next step', async () => {
    const { here } = await plug({}, { agents: [sales] })
    const client = await connect(here, era)
    expect((await client.listTools()).tools).toMatchObject([{ name: 'echo' }])
    const answer = await client.callTool({ name: 'echo', arguments: { word: 'x' } })
    expect(answer.isError).toBe(true)
    expect(answer.structuredContent).toMatchObject({ error: true, auth_error: true })
    expect(JSON.stringify(answer.content)).toContain('cowork agents add')
    const named = { word: 'x', agent_token: sales.token }
    const good = await client.callTool({ name: 'echo', arguments: named })
    expect(good.structuredContent).toMatchObject({ caller: 'sales' })
  })
})

test('I12 a stdio session is its connection, and SESSION_ID only labels it', async () => {
  const { rig, here } = await plug({ token: sales.token, session: 'morning' }, { agents: [sales] })
  const [other, there] = duplexPair()
  void rig.door.serve(there, { token: sales.token, session: 'morning' })
  const sessionOf = async (client: Client) =>
    z
      .object({ session: z.string() })
      .parse((await client.callTool({ name: 'echo', arguments: { word: 'x' } })).structuredContent)
      .session
  const [one, two] = [await connect(here, 'legacy'), await connect(other, 'auto')]
  const first = await sessionOf(one)
  expect(first).toMatch(/^morning~/)
  expect(await sessionOf(one)).toBe(first)
  expect(await sessionOf(two)).not.toBe(first)
})

test('SV10 an invalid line gets an error and the next one is served', async () => {
  const { rig, here } = await plug()
  const { send, next } = lines(here)
  send('{"jsonrpc":')
  expect(await next()).toMatchObject({ id: null, error: { code: -32700 } })
  send([initialize])
  expect(await next()).toMatchObject({ error: { code: -32600 } })
  send({ id: 5, method: 7 })
  expect(await next()).toMatchObject({ id: 5, error: { code: -32600 } })
  send('')
  send('null')
  expect(await next()).toMatchObject({ id: null, error: { code: -32600 } })
  send(initialize)
  expect(await next()).toMatchObject({ id: 1, result: { protocolVersion: '2025-06-18' } })
  send({ jsonrpc: '2.0', id: 2, method: 'no/such' })
  expect(await next()).toMatchObject({ id: 2, error: { code: -32601 } })
  send({ jsonrpc: '2.0', id: 3, method: 'tools/list', params: { cursor: 'x' } })
  expect(await next()).toMatchObject({ id: 3, error: { code: -32602 } })
  await expect
    .poll(() => rig.ledger.find({ types: ['request.refused'], limit: 10 }))
    .toMatchObject([{ outcome: 'invalid_json', subject: 'stdio' }])
})

test('SV10 the connection ends with the client', async () => {
  const { here, served } = await plug()
  here.end()
  await expect(served).resolves.toBeUndefined()
})

test('SV25 a line that is too long is refused, not buffered, and the next one is read', async () => {
  const [here, there] = duplexPair()
  const got: unknown[] = []
  const transport = createLineTransport(there, { most: 100 })
  transport.onmessage = (message) => got.push(message)
  await transport.start()
  const { send, next } = lines(here)
  send('x'.repeat(250))
  expect(await next()).toMatchObject({ error: { code: -32600 } })
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  send(ping)
  await vi.waitFor(() => expect(got).toEqual([ping]), 10_000)
})

test('RS4 a line with too many values is refused, and lines after it are answered in order', async () => {
  const { here, served } = await plug()
  const { send, next } = lines(here)
  send(initialize)
  expect(await next()).toMatchObject({ id: 1 })
  send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  const call = (id: number, word: unknown) =>
    send({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'echo', arguments: { word } },
    })
  call(
    2,
    Array.from({ length: 5000 }, () => 1),
  )
  call(3, 'x'.repeat(2_000_000))
  for (let id = 4; id < 204; id++) call(id, 'again')
  for (const id of [2, 3])
    expect(await next()).toMatchObject({ id, error: { data: { code: 'too_large' } } })
  // Calls above the limit per client are refused one by one.
  const ids = new Set<unknown>()
  for (let id = 4; id < 204; id++) ids.add((await next())['id'])
  expect(ids.size).toBe(200)
  here.end()
  await served
})

test('SV10 messages arrive complete and in order for any chunking', async () => {
  const messages = fc.array(fc.record({ jsonrpc: fc.constant('2.0'), method: fc.string() }))
  await fc.assert(
    fc.asyncProperty(messages, fc.array(fc.integer({ min: 1, max: 40 })), async (sent, cuts) => {
      const [here, there] = duplexPair()
      const got: unknown[] = []
      const transport = createLineTransport(there)
      transport.onmessage = (message) => got.push(message)
      await transport.start()
      let bytes = Buffer.from(sent.map((message) => `${JSON.stringify(message)}\n`).join(''))
      for (const cut of cuts) {
        here.write(bytes.subarray(0, cut))
        bytes = bytes.subarray(cut)
      }
      here.end(bytes)
      await transport.ended
      expect(got).toEqual(sent)
    }),
    { numRuns: 50 },
  )
})

test('SV10 lines of any length are read completely from a reused buffer', async () => {
  const [, there] = duplexPair()
  const got: unknown[] = []
  const transport = createLineTransport(there)
  transport.onmessage = (message) => got.push(message)
  await transport.start()
  const sent = [5, 70_000, 12, 5_000_000, 300_000, 1].map((length) => ({
    jsonrpc: '2.0',
    method: 'é'.repeat(length),
  }))
  const bytes = Buffer.from(sent.map((message) => `${JSON.stringify(message)}\n`).join(''))
  const buffer = Buffer.alloc(64 * 1024)
  for (let at = 0; at < bytes.length; at += buffer.length) {
    there.emit('data', buffer.subarray(0, bytes.copy(buffer, 0, at)))
    buffer.fill('!')
  }
  await vi.waitFor(() => expect(got).toEqual(sent), 10_000)
})

test('I12 GR5 the end of a connection ends its session', async () => {
  const { rig, here, served } = await plug({ agent: 'main', session: 'nightly' })
  const ended: string[] = []
  rig.identity.sessions.onEnd((session) => void ended.push(session))
  const client = await connect(here, 'legacy')
  const answer = await client.callTool({ name: 'echo', arguments: { word: 'hello' } })
  const { session } = answer.structuredContent as { session: string }
  expect(session).toMatch(/^nightly~/)
  expect(rig.identity.sessions.has(session)).toBe(true)
  here.end()
  await served
  expect(ended).toEqual([session])
})

test('RS4 a refused line is answered with its id if it is the first or last member', async () => {
  const { here } = await plug()
  const { send, next } = lines(here)
  send(initialize)
  expect(await next()).toMatchObject({ id: 1 })
  const params = { name: 'echo', arguments: { word: 'x'.repeat(300_000), id: 7 } }
  send({ method: 'tools/call', params, jsonrpc: '2.0', id: 'a' })
  expect(await next()).toMatchObject({ id: 'a', error: { data: { code: 'too_large' } } })
  send({ id: -5, jsonrpc: '2.0', method: 'tools/call', params })
  expect(await next()).toMatchObject({ id: -5, error: { data: { code: 'too_large' } } })
  send({ jsonrpc: '2.0', method: 'tools/call', params })
  expect(await next()).toMatchObject({ id: null, error: { data: { code: 'too_large' } } })
})
