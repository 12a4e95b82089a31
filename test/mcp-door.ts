// The MCP door over HTTP with a few small tools behind it: for the SDK's client, and for requests written by hand.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ClientOptions } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { defineTool } from '#base/tool.ts'
import type { Call } from '#base/tool.ts'
import type { IncomingRequest } from '../src/server/mcp/endpoint.ts'
import { createRig } from './conformance/rig.ts'
import type { RigOptions } from './conformance/rig.ts'

type Rig = Awaited<ReturnType<typeof createRig>>
export type Era = 'legacy' | 'auto'

export const common = {
  toolset: 'files',
  effect: 'read',
  by: 'anyone',
  description: 'For the test',
} as const

export const echo = defineTool({
  ...common,
  name: 'echo',
  title: 'Echo',
  core: true,
  input: z.object({ word: z.string(), agent_id: z.string().optional() }),
  output: z.object({ word: z.string(), caller: z.string(), session: z.string() }),
  read: ({ word }, { caller }) =>
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
  run: (_, { caller }) => Promise.resolve({ output: ['one', JSON.stringify(caller.client)] }),
})
const broken = defineTool({
  ...common,
  name: 'broken',
  title: 'Broken',
  input: z.object({ how: z.string() }),
  output: z.object({ never: z.number() }),
  read({ how }) {
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
  read: () => Promise.resolve({}),
})
export const tools = [echo, say, broken, approve]

export const sales = { id: 'sales', token: 'sk-cowork-sales' }
export const support = { id: 'support', token: 'sk-cowork-support', scopes: ['read:*'] }

/** It is closed when the test is over, after its clients. */
export async function openRig(options: RigOptions = { tools }): Promise<Rig> {
  const rig = await createRig(options)
  onTestFinished(() => rig.close())
  return rig
}

/** Connects a client of the SDK to the server without a network. */
export async function connect(
  rig: Rig,
  mode: Era,
  arrival: Partial<IncomingRequest> = {},
  options: ClientOptions = {},
): Promise<Client> {
  const info = { name: 'probe', version: '3.1' }
  const client = new Client(info, { versionNegotiation: { mode }, ...options })
  const fetch = (url: string | URL, init?: RequestInit) =>
    rig.door.fetch(new Request(url, init), { address: '127.0.0.1', ...arrival })
  await client.connect(new StreamableHTTPClientTransport(new URL('http://test/mcp'), { fetch }))
  onTestFinished(() => client.close())
  return client
}

export function post(
  rig: Rig,
  body: unknown,
  more: { headers?: object; arrival?: Partial<IncomingRequest> } = {},
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

export const initialize = (version = '2025-11-25') => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: version,
    capabilities: {},
    clientInfo: { name: 'probe', version: '1' },
  },
})

export const modernCall = (name: string, args: object, method = 'tools/call') => ({
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

export function tool(name: string, read: (call: Call) => Promise<string>) {
  return defineTool({
    ...common,
    name,
    title: name,
    input: z.object({}),
    output: z.string(),
    read: (_, call) => read(call),
  })
}

/** A call that stays under way until the test lets it go. */
export function waiting() {
  const started = Promise.withResolvers<void>()
  const held = Promise.withResolvers<string>()
  const wait = tool('wait', () => {
    started.resolve()
    return held.promise
  })
  return { wait, started: started.promise, release: () => held.resolve('done') }
}

export function parseText(answer: { content: unknown }): string {
  return z.tuple([z.looseObject({ text: z.string() })]).parse(answer.content)[0].text
}
