// Real MCP servers behind the real system: agents over MCP, people over the API.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'

const require = createRequire(import.meta.url)
const entryOf = (name: string) =>
  join(require.resolve(`@modelcontextprotocol/${name}/package.json`), '..', 'dist', 'index.js')

const node = (...args: string[]) => ({ type: 'stdio', command: process.execPath, args })

async function open(servers: readonly object[], settings: Record<string, unknown> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-gateway-'))
  const mcpSettings = join(folder, 'mcp-settings.json')
  writeFileSync(mcpSettings, JSON.stringify({ servers }))
  const app = await startTestApp(settings, { mcpSettings })
  onTestFinished(() => app.close())
  const output = async (tool: string, args: Record<string, unknown> = {}) => {
    const response = await app.call(tool, args)
    return ((await response.json()) as { output: Record<string, never> }).output
  }
  await expect
    .poll(async () => (await output('cowork_servers'))['servers'], { timeout: 20_000 })
    .toMatchObject(servers.map(() => ({ status: { state: 'ready' } })))
  return { app, folder, output, mcpSettings }
}

async function connect({ mcpUrl }: TestApp): Promise<Client> {
  const client = new Client(
    { name: 'test-client', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)))
  onTestFinished(() => client.close())
  return client
}

type Result = { content: { text: string }[]; structuredContent?: Record<string, unknown> }

test('U4 U5 an agent finds and calls a tool of a server, and the ledger has the call', async () => {
  const { app } = await open([
    {
      name: 'everything',
      description: 'Test server',
      transport: node(entryOf('server-everything')),
    },
  ])
  const client = await connect(app)
  expect(client.getInstructions()).toContain('- everything: Test server')
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).not.toContain('everything__echo')
  const found = (await client.callTool({
    name: 'cowork_find_tools',
    arguments: { query: 'everything echo' },
  })) as Result
  expect(found.structuredContent).toMatchObject({
    tools: expect.arrayContaining([
      expect.objectContaining({
        name: 'everything__echo',
        input_schema: expect.objectContaining({ required: ['message'] }) as unknown,
      }),
    ]) as unknown,
  })
  for (const params of [
    { name: 'everything__echo', arguments: { message: 'hi' } },
    {
      name: 'cowork_use',
      arguments: { tool: 'everything__echo', arguments: { message: 'hi' } },
    },
  ])
    expect(await client.callTool(params)).toMatchObject({ content: [{ text: 'Echo: hi' }] })
  const readEntries = async () => {
    const headers = { authorization: `Bearer ${app.owner}` }
    const response = await fetch(`${app.url}/api/ledger?domain=everything`, { headers })
    return response.text()
  }
  await expect.poll(readEntries).toContain('everything__echo')
})

test('U5 U6 A15 a destructive call of an untrusted agent waits, runs once after approval, and its result is kept', async () => {
  const { app, folder } = await open([], { 'approvals.undo_hold': '0s' })
  writeFileSync(
    join(folder, 'mcp-settings.json'),
    JSON.stringify({
      servers: [{ name: 'disk', transport: node(entryOf('server-filesystem'), folder) }],
    }),
  )
  await expect
    .poll(() => app.call('cowork_servers').then((response) => response.text()), { timeout: 20_000 })
    .toContain('"ready"')
  const client = await connect(app)
  const path = join(folder, 'note.txt')
  const call = { name: 'disk__write_file', arguments: { path, content: 'hello' } }
  const waiting = (await client.callTool(call)) as Result
  const id = waiting.structuredContent?.['approval_id']
  expect(waiting.structuredContent).toMatchObject({ code: 'approval_required' })
  await app.call('cowork_decide', { approval_ids: [id], decision: 'approve' })
  const done = (await client.callTool({
    name: 'cowork_check_approval',
    arguments: { approval_id: id, wait_seconds: 20 },
  })) as Result
  expect(JSON.stringify(done)).toContain('Successfully wrote')
  expect(JSON.stringify(await client.callTool(call))).toContain('Successfully wrote')
  const other = (await client.callTool({
    ...call,
    arguments: { path, content: 'again' },
  })) as Result
  expect(other.structuredContent).toMatchObject({ code: 'approval_required' })
})

test('U4 the arguments are checked by the schema of the server before anyone is asked', async () => {
  const { app } = await open([{ name: 'memory', transport: node(entryOf('server-memory')) }])
  const client = await connect(app)
  const result = (await client.callTool({
    name: 'memory__create_entities',
    arguments: { entities: 'x' },
  })) as Result
  expect(result.structuredContent).toMatchObject({ code: 'invalid_input' })
  expect(JSON.stringify(result)).toContain('entities')
})

test('U3 the routes of seed 002 answer as it says, each through dispatch', async () => {
  const { app } = await open([
    { name: 'everything', description: 'Test', transport: node(entryOf('server-everything')) },
  ])
  const ask = async (path: string, body?: object, token = app.owner) => {
    const response = await fetch(`${app.url}/api/mcp/servers${path}`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    return (await response.json()) as Record<string, unknown>
  }
  expect(await ask('')).toMatchObject({
    ok: true,
    servers: [
      { name: 'everything', description: 'Test', status: { state: 'ready', transport: 'stdio' } },
    ],
  })
  const { tools } = (await ask('/everything/tools')) as { tools: { name: string }[] }
  expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
    inputSchema: { required: ['message'] },
  })
  expect(
    await ask('/everything/tools/call', { name: 'echo', arguments: { message: 'hi' } }),
  ).toMatchObject({ ok: true, result: { content: [{ text: 'Echo: hi' }] } })
  const { result } = (await ask('/everything/resources')) as {
    result: { resources: { uri: string }[] }
  }
  const [{ uri } = { uri: '' }] = result.resources
  expect(await ask(`/everything/resource?uri=${encodeURIComponent(uri)}`)).toMatchObject({
    ok: true,
    result: { contents: [{ uri }] },
  })
  expect(await ask('/everything/resource-templates')).toMatchObject({
    ok: true,
    result: { resourceTemplates: expect.any(Array) as unknown },
  })
  expect(await ask('/none/tools')).toMatchObject({ error: { code: 'server_unknown' } })
  expect(await ask('/everything/tools/call', { name: 'none' })).toMatchObject({
    error: { code: 'unknown_tool' },
  })
})

test('U7 a tool with scopes is refused to an agent without all of them', async () => {
  const { app } = await open([
    {
      name: 'everything',
      transport: node(entryOf('server-everything')),
      toolScopes: { defaultScopes: ['read:test'], toolScopes: { echo: ['a:x', 'b:x'] } },
    },
  ])
  const add = async (id: string, scopes: string[]) => {
    const response = await app.call('cowork_add_agent', { id, scopes })
    return ((await response.json()) as { output: { token: string } }).output.token
  }
  const call = async (token: string, tool: string, args: object) => {
    const response = await app.call(`everything__${tool}`, { ...args }, token)
    return (await response.json()) as { error?: { code: string } }
  }
  const half = await add('half', ['a:*'])
  const full = await add('full', ['a:*', 'b:*'])
  expect(await call(half, 'echo', { message: 'x' })).toMatchObject({
    error: { code: 'scope_missing' },
  })
  expect((await call(full, 'echo', { message: 'x' })).error).toBeUndefined()
  expect(await call(full, 'get-sum', { a: 1, b: 2 })).toMatchObject({
    error: { code: 'scope_missing' },
  })
})
