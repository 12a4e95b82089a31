import { setTimeout as delay } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { createRig, ownerToken } from '../../../test/conformance/rig.ts'
import type { RigOptions } from '../../../test/conformance/rig.ts'
import type { Arrival } from './door.ts'

type Rig = Awaited<ReturnType<typeof createRig>>
type Era = 'legacy' | 'auto'
const eras: Era[] = ['legacy', 'auto']

const common = {
  toolset: 'files',
  effect: 'read',
  by: 'anyone',
  description: 'For the test',
} as const

const echo = defineTool({
  ...common,
  name: 'echo',
  title: 'Echo',
  core: true,
  input: z.object({ word: z.string(), agent_id: z.string().optional() }),
  output: z.object({ word: z.string(), caller: z.string(), session: z.string() }),
  run: ({ word }, { caller }) =>
    Promise.resolve({ word, caller: caller.id, session: caller.session }),
})
const say = defineTool({
  ...common,
  name: 'say',
  title: 'Say',
  toolset: 'work',
  effect: 'write',
  input: z.object({ client: z.boolean().optional() }),
  output: z.array(z.string()),
  text: (lines) => lines.join('\n'),
  run: (_, { caller }) => Promise.resolve(['one', JSON.stringify(caller.client)]),
})
const broken = defineTool({
  ...common,
  name: 'broken',
  title: 'Broken',
  input: z.object({ how: z.string() }),
  output: z.object({ never: z.number() }),
  run({ how }) {
    if (how === 'bug') throw new TypeError('secret detail of the inside')
    throw new CoworkError('not_found', `There is no ${how}.`, {
      hint: 'Look elsewhere.',
      details: { how },
    })
  },
})
const approve = defineTool({
  ...common,
  name: 'approve',
  title: 'Approve',
  toolset: 'work',
  by: 'human',
  input: z.object({}),
  output: z.object({}),
  run: () => Promise.resolve({}),
})
const tools = [echo, say, broken, approve]

const sales = { id: 'sales', token: 'sk-cowork-sales' }
const support = { id: 'support', token: 'sk-cowork-support', scopes: ['read:*'] }

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

async function rigOf(options: RigOptions = { tools }): Promise<Rig> {
  const rig = await createRig(options)
  open.push(rig)
  return rig
}

/** The SDK's client with the door in the place of the network. */
async function connect(rig: Rig, mode: Era, arrival: Partial<Arrival> = {}): Promise<Client> {
  const client = new Client({ name: 'probe', version: '3.1' }, { versionNegotiation: { mode } })
  const fetch = (url: string | URL, init?: RequestInit) =>
    rig.door.fetch(new Request(url, init), { address: '127.0.0.1', ...arrival })
  await client.connect(new StreamableHTTPClientTransport(new URL('http://test/mcp'), { fetch }))
  open.push(client)
  return client
}

function post(
  rig: Rig,
  body: unknown,
  more: { headers?: object; arrival?: Partial<Arrival> } = {},
) {
  const request = new Request('http://test/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...more.headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return rig.door.fetch(request, { address: '127.0.0.1', ...more.arrival })
}

const initialize = (version = '2025-11-25') => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: version,
    capabilities: {},
    clientInfo: { name: 'probe', version: '1' },
  },
})

const modernCall = (name: string, args: object, method = 'tools/call') => ({
  body: {
    jsonrpc: '2.0',
    id: 7,
    method,
    params: {
      name,
      arguments: args,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  },
  headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': name },
})

describe.each(eras)('%s era over HTTP', (era) => {
  test('SV10 a client of this era lists and calls tools', async () => {
    const rig = await rigOf()
    const client = await connect(rig, era)
    expect(client.getNegotiatedProtocolVersion()).toBe(era === 'auto' ? '2026-07-28' : '2025-11-25')
    const listed = await client.listTools()
    expect(listed.tools.map((tool) => tool.name)).toEqual(['approve', 'broken', 'echo', 'say'])
    const answer = await client.callTool({ name: 'echo', arguments: { word: 'hello' } })
    expect(answer.structuredContent).toMatchObject({ word: 'hello', caller: 'probe' })
  })

  test('SV12 structuredContent matches the output schema and content alone is enough', async () => {
    const client = await connect(await rigOf(), era)
    await client.listTools()
    const answer = await client.callTool({ name: 'echo', arguments: { word: 'hello' } })
    expect(JSON.parse(textOf(answer))).toEqual(answer.structuredContent)
    const lines = await client.callTool({ name: 'say', arguments: {} })
    expect(textOf(lines)).toMatch(/^one\n/)
  })

  test('SV12 a fault is isError with code, message and hint, and the client accepts it', async () => {
    const client = await connect(await rigOf(), era)
    await client.listTools()
    const answer = await client.callTool({ name: 'broken', arguments: { how: 'file' } })
    const fault = {
      code: 'not_found',
      message: 'There is no file.',
      hint: 'Look elsewhere.',
      how: 'file',
    }
    expect(answer.isError).toBe(true)
    if (era === 'auto') {
      expect(answer.structuredContent).toEqual(fault)
      expect(textOf(answer)).toBe('There is no file. Look elsewhere.')
    } else {
      expect(answer.structuredContent).toBeUndefined()
      expect(JSON.parse(textOf(answer))).toEqual(fault)
    }
  })

  test('SV12 a bug is answered without its words', async () => {
    const client = await connect(await rigOf(), era)
    const answer = await client.callTool({ name: 'broken', arguments: { how: 'bug' } })
    expect(JSON.stringify(answer)).toContain('internal')
    expect(JSON.stringify(answer)).not.toContain('secret detail')
  })

  test('SV12 wrong arguments are a fault the model can read, an unknown tool is a protocol error', async () => {
    const client = await connect(await rigOf(), era)
    const answer = await client.callTool({ name: 'echo', arguments: { word: 5 } })
    expect(answer.isError).toBe(true)
    expect(textOf(answer)).toContain('word')
    await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 })
  })

  test('SV11 an address shows its own toolset and refuses the rest', async () => {
    const rig = await rigOf()
    const client = await connect(rig, era, { toolset: 'files' })
    const listed = await client.listTools()
    expect(listed.tools.map((tool) => tool.name)).toEqual(['broken', 'echo'])
    await expect(client.callTool({ name: 'say' })).rejects.toMatchObject({ code: -32602 })
    const core = await connect(rig, era, { coreOnly: true })
    expect((await core.listTools()).tools.map((tool) => tool.name)).toEqual(['echo'])
  })

  test('SV11 a list shows what the caller may use, and people’s tools in open mode only', async () => {
    const rig = await rigOf({ tools, agents: [sales, support] })
    const names = async (bearer: string) =>
      (await (await connect(rig, era, { bearer })).listTools()).tools.map((tool) => tool.name)
    expect(await names(sales.token)).toEqual(['broken', 'echo', 'say'])
    expect(await names(support.token)).toEqual(['broken', 'echo'])
  })

  test('I12 the client says who it is, and a session is its own', async () => {
    const rig = await rigOf()
    const [one, two] = [await connect(rig, era), await connect(rig, era)]
    const answer = await one.callTool({ name: 'say', arguments: {} })
    expect(textOf(answer)).toContain('{"name":"probe","version":"3.1","transport":"http"}')
    const sessionOf = async (client: Client) =>
      z
        .object({ session: z.string() })
        .parse(
          (await client.callTool({ name: 'echo', arguments: { word: 'x' } })).structuredContent,
        ).session
    const first = await sessionOf(one)
    expect(await sessionOf(one)).toBe(first)
    // The newer era has no sessions on the wire: they belong to the token, here to the open agent id.
    if (era === 'auto') expect(await sessionOf(two)).toBe(first)
    else expect(await sessionOf(two)).not.toBe(first)
  })

  test('I3 a wrong or missing token is refused with 401 and the next step', async () => {
    const rig = await rigOf({ tools, agents: [sales] })
    const { body, headers } =
      era === 'auto' ? modernCall('echo', { word: 'x' }) : { body: initialize(), headers: {} }
    for (const arrival of [{}, { bearer: 'wrong' }]) {
      const response = await post(rig, body, { headers, arrival })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
      expect(await response.json()).toMatchObject({
        jsonrpc: '2.0',
        id: body.id,
        error: { data: { error: true, auth_error: true, hint: expect.any(String) } },
      })
    }
  })

  test('SV12 who connects is told in short how to work here, as far as it has the tools for it', async () => {
    const rig = await rigOf()
    const told = (await connect(rig, era)).getInstructions() ?? ''
    expect(told).toMatch(/workspace.*~\/.*request_grant.*trash.*cowork_propose.*approval/)
    expect(told.length).toBeLessThanOrEqual(600)
    const atWork = await connect(rig, era, { toolset: 'work' })
    expect(atWork.getInstructions()).toMatch(/^Where a call needs approval/)
  })

  test('SV14 progress goes forwards, and only to who asked for it', async () => {
    const steps = tool('steps', (call) => {
      call.progress(1, 3, 'one')
      call.progress(1, 3)
      call.progress(2, 3)
      return delay(5, 'done')
    })
    const client = await connect(await rigOf({ tools: [steps] }), era)
    const seen: unknown[] = []
    await client.callTool({ name: 'steps' }, { onprogress: (progress) => seen.push(progress) })
    expect(seen).toEqual([
      { progress: 1, total: 3, message: 'one' },
      { progress: 2, total: 3 },
    ])
    await expect(client.callTool({ name: 'steps' })).resolves.toMatchObject({
      content: expect.anything(),
    })
  })

  test('SV14 a client that cancels stops the call, and the ledger says so', async () => {
    const started = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<void>()
    const wait = tool('wait', async ({ signal }) => {
      started.resolve()
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')))
      }).finally(stopped.resolve)
      return 'never'
    })
    const rig = await rigOf({ tools: [wait] })
    const client = await connect(rig, era)
    const abort = new AbortController()
    const call = client.callTool({ name: 'wait' }, { signal: abort.signal })
    await started.promise
    abort.abort()
    await expect(call).rejects.toThrow('abort')
    await stopped.promise
    await vi.waitFor(async () => {
      const [entry] = await rig.ledger.find({ types: ['call.failed'], limit: 1, newestFirst: true })
      expect(entry?.outcome).toBe('cancelled')
    }, 10_000)
  })

  test('SV14 the signal of a call is still when its answer is sent', async () => {
    let kept: AbortSignal | undefined
    const keep = tool('keep', async ({ signal }) => {
      kept = signal
      return 'kept'
    })
    const client = await connect(await rigOf({ tools: [keep] }), era)
    await client.callTool({ name: 'keep' })
    await delay(20)
    expect(kept?.aborted).toBe(false)
  })

  test('SV10 a changed list of tools is told', async () => {
    const rig = await rigOf()
    const onChanged = vi.fn<() => void>()
    const client = new Client(
      { name: 'probe', version: '1' },
      {
        versionNegotiation: { mode: era },
        listChanged: {
          tools: { autoRefresh: false, debounceMs: 0, onChanged },
        },
      },
    )
    const fetch = (url: string | URL, init?: RequestInit) =>
      rig.door.fetch(new Request(url, init), { address: '127.0.0.1' })
    await client.connect(new StreamableHTTPClientTransport(new URL('http://test/mcp'), { fetch }))
    open.push(client)
    await vi.waitFor(() => {
      rig.door.toolsChanged()
      expect(onChanged).toHaveBeenCalled()
    }, 10_000)
  })
})

test('A3 a person’s token is refused on MCP', async () => {
  const rig = await rigOf({ tools, agents: [sales] })
  const { body, headers } = modernCall('echo', { word: 'x' })
  const response = await post(rig, body, { headers, arrival: { bearer: ownerToken } })
  expect(response.status).toBe(403)
  expect(await response.json()).toMatchObject({
    error: { data: { code: 'person_token_on_mcp' } },
  })
})

test('I3 a call may bring its token as an argument, and no further than the door', async () => {
  let seen: unknown
  const look = defineTool({
    ...common,
    name: 'look',
    title: 'Look',
    input: z.strictObject({ agent_id: z.string().optional() }),
    output: z.object({ caller: z.string() }),
    run(input, { caller }) {
      seen = input
      return Promise.resolve({ caller: caller.id })
    },
  })
  const rig = await rigOf({ tools: [look], agents: [sales] })
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

test('SV10 a session belongs to who opened it', async () => {
  const rig = await rigOf({ tools, agents: [sales, support] })
  const opened = await post(rig, initialize(), { arrival: { bearer: sales.token } })
  const id = opened.headers.get('mcp-session-id') ?? ''
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
  const ask = async (session: string, bearer: string, toolset?: string) => {
    const response = await post(rig, list, {
      headers: { 'mcp-session-id': session },
      arrival: { bearer, ...(toolset && { toolset }) },
    })
    await response.body?.cancel()
    return response.status
  }
  expect(await ask(id, sales.token)).toBe(200)
  expect(await ask(id, support.token)).toBe(404)
  expect(await ask(id, sales.token, 'work')).toBe(404)
  expect(await ask('no-such-session', sales.token)).toBe(404)
  const none = await post(rig, list, { arrival: { bearer: sales.token } })
  expect(none.status).toBe(400)
})

test('SV10 sessions are limited in number, swept when idle and ended by DELETE', async () => {
  let at = Date.now()
  const limits = { maxSessions: 2, idleMs: 1000 }
  const rig = await rigOf({ tools, limits, now: () => at })
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

  at += 1001
  const ping = { jsonrpc: '2.0', id: 3, method: 'ping' }
  const late = await post(rig, ping, { headers: { 'mcp-session-id': two } })
  expect(late.status).toBe(404)
  expect(rig.door.sessionCount()).toBe(0)
  await start()
  expect(rig.door.sessionCount()).toBe(1)
})

test('I12 GR5 a session that its client ends is over for whoever follows', async () => {
  const rig = await rigOf()
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

test('I12 GR5 a stream of the oldest revision is a session that ends with it', async () => {
  const rig = await rigOf()
  const ended: string[] = []
  rig.identity.sessions.onEnd((session) => void ended.push(session))
  const arrival = { address: '127.0.0.1' }
  const stream = await rig.door.fetch(new Request('http://test/sse'), { ...arrival, old: {} })
  const reader = stream.body?.getReader()
  const first = new TextDecoder().decode((await reader?.read())?.value)
  const [, id = ''] = /session=(\S+)/.exec(first) ?? []
  const call = { name: 'echo', arguments: { word: 'x' } }
  for (const message of [
    initialize(),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call },
  ])
    await post(rig, message, { arrival: { old: { stream: id } } })
  await expect.poll(() => rig.identity.sessions.has(id)).toBe(true)
  await reader?.cancel()
  expect(ended).toEqual([id])
})

test('SV10 a session at work or listened to is not idle', async () => {
  let at = Date.now()
  const { wait, started, release } = waiting()
  const rig = await rigOf({ tools: [wait], limits: { idleMs: 1000 }, now: () => at })
  const client = await connect(rig, 'legacy')
  const call = client.callTool({ name: 'wait' })
  await started
  at += 5000
  await post(rig, initialize())
  release()
  await expect(call).resolves.toMatchObject({ content: [{ text: '"done"' }] })
})

test('SV11 an unknown address is 404', async () => {
  const rig = await rigOf()
  const response = await post(rig, initialize(), { arrival: { toolset: 'nothing' } })
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({ error: { data: { code: 'unknown_toolset' } } })
})

test('SV10 malformed requests get a clear error and change nothing', async () => {
  const rig = await rigOf()
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

test('SV25 a body that is too large is 413, too many calls at once are 429', async () => {
  const { wait, started, release } = waiting()
  const rig = await rigOf({
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

test('SV3 closing finishes the calls under way and takes no more', async () => {
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

test('SV11 a schema that cannot be listed stops the start', async () => {
  const odd = { ...echo, name: 'odd', output: z.object({ at: z.date() }) } as unknown as Tool
  await expect(createRig({ tools: [odd] })).rejects.toThrow('Date')
})

function tool(
  name: string,
  run: (call: Parameters<NonNullable<Tool['run']>>[1]) => Promise<string>,
) {
  return defineTool({
    ...common,
    name,
    title: name,
    input: z.object({}),
    output: z.string(),
    run: (_, call) => run(call),
  })
}

/** A call that stays under way until the test lets it go. */
function waiting() {
  const started = Promise.withResolvers<void>()
  const held = Promise.withResolvers<string>()
  const wait = tool('wait', () => {
    started.resolve()
    return held.promise
  })
  return { wait, started: started.promise, release: () => held.resolve('done') }
}

function textOf(answer: { content: unknown }): string {
  return z.tuple([z.looseObject({ text: z.string() })]).parse(answer.content)[0].text
}
