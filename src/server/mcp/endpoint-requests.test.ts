import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { systemActor } from '#base/entry.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { createRig, ownerToken } from '../../../test/conformance/rig.ts'
import {
  common,
  echo,
  initialize,
  modernCall,
  openRig,
  post,
  sales,
  support,
  tools,
  waiting,
} from '../../../test/mcp-door.ts'

test('A3 a person’s token is refused on MCP', async () => {
  const rig = await openRig({ tools, agents: [sales] })
  const { body, headers } = modernCall('echo', { word: 'x' })
  const response = await post(rig, body, { headers, arrival: { bearer: ownerToken } })
  expect(response.status).toBe(403)
  expect(await response.json()).toMatchObject({
    error: { data: { code: 'person_token_on_mcp' } },
  })
})

test('I3 a token argument is used by the endpoint and then removed', async () => {
  let seen: unknown
  const look = defineTool({
    ...common,
    name: 'look',
    title: 'Look',
    input: z.strictObject({ agent_id: z.string().optional() }),
    output: z.object({ caller: z.string() }),
    read(input, { caller }) {
      seen = input
      return Promise.resolve({ caller: caller.id })
    },
  })
  const rig = await openRig({ tools: [look], agents: [sales] })
  const call = async (args: object) => {
    const { body, headers } = modernCall('look', args)
    const response = await post(rig, body, { headers })
    return {
      status: response.status,
      ...z.looseObject({ result: z.looseObject({}) }).parse(await response.json()),
    }
  }
  const good = await call({ agent_id: 'sales', agent_token: sales.token })
  expect(good.result['structuredContent']).toEqual({ caller: 'sales' })
  expect(seen).toEqual({ agent_id: 'sales' })

  const bad = await call({ agent_id: 'sales', agent_token: 'wrong' })
  expect(bad).toMatchObject({
    status: 200,
    result: { isError: true, structuredContent: { error: true, auth_error: true } },
  })
})

test('SV11 an unknown path is 404', async () => {
  const rig = await openRig()
  const response = await post(rig, initialize(), { arrival: { toolset: 'nothing' } })
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({ error: { data: { code: 'unknown_toolset' } } })
})

test('SV10 malformed requests get a clear error and change nothing', async () => {
  const rig = await openRig()
  const status = async (body: unknown, headers = {}) => {
    const response = await post(rig, body, { headers })
    const text = await response.text()
    const code = /"code":(-\d+)/.exec(text)?.[1]
    return [response.status, code === undefined ? undefined : Number(code)]
  }
  expect(await status('{"jsonrpc":')).toEqual([400, -32700])
  expect(await status('')).toEqual([400, -32700])
  expect(await status(initialize(), { 'content-type': 'text/plain' })).toEqual([415, -32000])
  expect(await status(initialize(), { accept: 'text/html' })).toEqual([406, -32000])
  expect(await status('null')).toEqual([400, expect.any(Number)])
  expect(await status('5')).toEqual([400, expect.any(Number)])
  expect(await status('[]')).toEqual([400, expect.any(Number)])
  expect(await status({ id: 1 })).toEqual([400, expect.any(Number)])
  expect(await status([initialize(), initialize()])).toEqual([400, expect.any(Number)])
  const future = modernCall('echo', {})
  future.body.params._meta['io.modelcontextprotocol/protocolVersion'] = '2099-01-01'
  expect(
    await status(future.body, { ...future.headers, 'mcp-protocol-version': '2099-01-01' }),
  ).toEqual([400, -32022])
  const mismatch = modernCall('echo', { word: 'x' })
  expect(await status(mismatch.body, { ...mismatch.headers, 'mcp-name': 'say' })).toEqual([
    400, -32020,
  ])
  const put = new Request('http://test/mcp', { method: 'PUT', body: '{}' })
  expect((await rig.door.fetch(put, { address: 'x' })).status).toBe(405)
  expect(rig.door.sessionCount()).toBe(0)
})

test('SV25 a body that is too large is 413, too many concurrent calls are 429', async () => {
  const { wait, started, release } = waiting()
  const rig = await openRig({
    tools: [wait],
    limits: { bodyBytes: 1000, callsInFlight: 1 },
  })
  const large = modernCall('wait', { padding: 'x'.repeat(2000) })
  expect((await post(rig, large.body, { headers: large.headers })).status).toBe(413)
  const { body, headers } = modernCall('wait', {})
  const first = post(rig, body, { headers })
  await started
  const second = await post(rig, body, { headers })
  expect(second.status).toBe(429)
  expect(second.headers.get('retry-after')).toBe('1')
  release()
  expect((await first).status).toBe(200)
  expect((await post(rig, body, { headers })).status).toBe(200)
})

describe('RS4 limits of an agent message', () => {
  const wide = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]))
  const list = (count: number) => Array.from({ length: count }, (_, at) => at)
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])
  const note = defineTool({
    ...common,
    name: 'note',
    title: 'Note',
    input: z.object({ given: z.unknown(), agent_token: z.string().optional() }),
    output: z.object({}),
    read: () => Promise.resolve({}),
  })
  const upload = defineTool({ ...note, name: 'upload', large: true })
  const arrival = { bearer: sales.token }
  const open = () => openRig({ tools: [note, upload], agents: [sales] })

  test.each([
    ['too many keys', wide(5000)],
    ['too many keys in a large body', wide(100_000)],
    ['too many items', list(5000)],
    ['too many levels', deep(100)],
    ['too many bytes', 'x'.repeat(300_000)],
  ])('RS4 %s are refused before they are parsed, and no call is recorded', async (_, given) => {
    const rig = await open()
    const before = await rig.ledger.size()
    for (const who of [arrival, {}]) {
      const { body, headers } = modernCall('note', { given })
      const length = Buffer.byteLength(JSON.stringify(body))
      const sized = { ...headers, 'content-length': String(length) }
      const response = await post(rig, body, { headers: sized, arrival: who })
      expect(response.status).toBe(413)
      expect(await response.json()).toMatchObject({
        // The message was not parsed, so its id is unknown.
        id: null,
        error: { data: { code: 'too_large', hint: expect.any(String) } },
      })
    }
    await rig.ledger.record({ type: 'test.over', actor: systemActor })
    const since = await rig.ledger.find({ limit: 100, after: before })
    // The refused requests are counted in one entry, written shortly after.
    const types = since.map(({ type }) => type).filter((type) => type !== 'request.refused')
    expect(types).toEqual(['test.over'])
  })

  test('RS4 a file write may be larger, with few values', async () => {
    const rig = await open()
    const send = async (given: unknown) => {
      const { body, headers } = modernCall('upload', { given })
      const length = Buffer.byteLength(JSON.stringify(body))
      const sized = { ...headers, 'content-length': String(length) }
      return (await post(rig, body, { headers: sized, arrival })).status
    }
    expect(await send('x'.repeat(5_000_000))).toBe(200)
    expect(await send({ text: 'x'.repeat(5_000_000), more: wide(5000) })).toBe(413)
    expect(await send('y'.repeat(5_000_000))).toBe(200)
  })

  test('RS4 a client with 256 queued messages is refused, another is served', async () => {
    const rig = await openRig({ tools: [note], agents: [sales, support] })
    const { body, headers } = modernCall('note', {})
    const release = rig.door.messages.queue.pause()
    const sent = Array.from({ length: 268 }, () => post(rig, body, { headers, arrival }))
    const other = post(rig, body, { headers, arrival: { bearer: support.token } })
    const refused = await sent.at(-1)
    expect(refused?.status).toBe(429)
    expect(refused?.headers.get('retry-after')).toBe('1')
    release()
    const statuses = (await Promise.all(sent)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(12)
    expect((await other).status).toBe(200)
  })
})

test('SV3 shutdown finishes running calls and accepts no more', async () => {
  const { wait, started, release } = waiting()
  const rig = await createRig({ tools: [wait] })
  const { body, headers } = modernCall('wait', {})
  const call = post(rig, body, { headers })
  await started
  const closing = rig.close()
  expect((await post(rig, body, { headers })).status).toBe(503)
  release()
  expect((await call).status).toBe(200)
  await closing
})

test('SV11 a schema that cannot be listed fails the startup', async () => {
  const odd = { ...echo, name: 'odd', output: z.object({ at: z.date() }) } as unknown as Tool
  await expect(createRig({ tools: [odd] })).rejects.toThrow('Date')
})
