import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ClientCapabilities } from '@modelcontextprotocol/client'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { createLineTransport } from '../src/server/mcp/stdio.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { createTestDatabase } from './databases.ts'
import {
  call,
  connectBy,
  crm,
  everywhere,
  parseFault,
  takesTasks,
  createTaskClient,
} from './waiting.ts'
import type { Connecting } from './waiting.ts'

type Crm = ReturnType<typeof crm>
type Given = { readonly settings?: Record<string, unknown>; readonly state?: string }

const noTasks = {
  get: () => Promise.resolve(undefined),
  update: () => Promise.resolve(false),
  cancel: () => Promise.resolve(false),
}

async function start({ tools }: Crm, { settings = {}, state }: Given = {}): Promise<TestApp> {
  const app = await startTestApp(settings, {
    fixture: { tools, features: [], tasks: noTasks },
    ...(state !== undefined && { state }),
  })
  onTestFinished(() => app.close())
  return app
}

async function addAgent(app: TestApp, id: string): Promise<string> {
  const reply = await app.call('cowork_add_agent', { id })
  return ((await reply.json()) as { output: { token: string } }).output.token
}

function connect(app: TestApp, token: string, { door, heard, ...rest }: Connecting = {}) {
  if (door === 'stdio') {
    const socket = connectSocket(join(app.state, 'daemon.sock'))
    socket.write(`${JSON.stringify({ cowork: 1, token })}\n`)
    return connectBy(createLineTransport(socket), rest)
  }
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const listening = async (url: string | URL, init?: RequestInit) => {
    const response = await fetch(url, init)
    const isJson = response.headers.get('content-type')?.includes('json')
    if (isJson) heard?.(await response.clone().text())
    return response
  }
  const options = { requestInit, fetch: listening }
  return connectBy(new StreamableHTTPClientTransport(new URL(app.mcpUrl), options), rest)
}

async function withTasks(app: TestApp, token: string) {
  let last = ''
  const heard = (body: string) => {
    last = body
  }
  return createTaskClient(
    await connect(app, token, { capabilities: takesTasks, heard }),
    () => last,
  )
}

async function decide(app: TestApp, id: string, body: object = { decision: 'approve' }) {
  const reply = await fetch(`${app.url}/api/approvals/${id}/decide`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.owner}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(await reply.json()).toMatchObject({ output: { errors: 0 } })
}

async function pending(app: TestApp): Promise<string[]> {
  const reply = await fetch(`${app.url}/api/approvals`, {
    headers: { authorization: `Bearer ${app.owner}` },
  })
  const { items } = (await reply.json()) as { items: { id: string }[] }
  return items.map(({ id }) => id)
}

async function theOne(app: TestApp): Promise<string> {
  await expect.poll(() => pending(app)).toHaveLength(1)
  return (await pending(app))[0] ?? ''
}

describe.each(everywhere)('the running system, over %s, %s era', (door, era) => {
  test('A5 A3 a person decides over the API, and the call continues', async () => {
    const { tools, deleted } = crm()
    const app = await start({ tools, deleted })
    const token = await addAgent(app, 'sales')
    const capabilities: ClientCapabilities = { elicitation: { url: {} } }
    const client = await connect(app, token, { door, era, capabilities })
    const shown: unknown[] = []
    client.setRequestHandler('elicitation/create', ({ params }) => {
      shown.push(params)
      return { action: 'accept' }
    })
    const result = client.callTool(call())
    await expect.poll(() => shown).toHaveLength(1)
    const id = await theOne(app)
    expect(shown[0]).toMatchObject({ mode: 'url', url: `${app.url}/inbox/${id}` })
    expect(JSON.stringify(shown)).not.toContain(token)
    // The token of an agent cannot approve.
    const own = await app.call('cowork_decide', { approval_ids: [id], decision: 'approve' }, token)
    expect(own.status).toBe(403)
    await decide(app, id)
    expect((await result).structuredContent).toMatchObject({ deleted: 'row-1' })
    expect(deleted).toEqual(['row-1'])
  })
})

test('A7 A15 a task survives a restart: approved afterwards, it runs once', async () => {
  const world = crm()
  const before = await start(world)
  const token = await addAgent(before, 'sales')
  const id = await (await withTasks(before, token)).start()
  await before.close()
  expect(world.deleted).toEqual([])

  const after = await start(world, { state: before.state })
  const [one, other] = [await withTasks(after, token), await withTasks(after, token)]
  await decide(after, id)
  const asked = [one, other, one].map(async ({ get }) => {
    await expect.poll(() => get(id)).toMatchObject({ status: 'completed' })
  })
  await Promise.all(asked)
  expect(await one.get(id)).toMatchObject({
    result: { structuredContent: { deleted: 'row-1', reason: 'tidy' } },
  })
  expect(world.deleted).toEqual(['row-1'])
  await after.close()

  const later = await start(world, { state: before.state })
  const { get } = await withTasks(later, token)
  expect(await get(id)).toMatchObject({
    status: 'completed',
    result: { structuredContent: { deleted: 'row-1' } },
  })
  expect(world.deleted).toEqual(['row-1'])
})

test('A7 A15 a call pending before a restart runs afterwards, and a repeated call gets its result', async () => {
  const world = crm()
  const before = await start(world)
  const token = await addAgent(before, 'sales')
  const asked = await (await connect(before, token)).callTool(call())
  const id = String(parseFault(asked).payload['approval_id'])
  await before.close()
  const after = await start(world, { state: before.state })
  await decide(after, id)
  const client = await connect(after, token)
  for (let n = 0; n < 2; n++)
    expect((await client.callTool(call())).structuredContent).toMatchObject({
      deleted: 'row-1',
      approval_id: id,
      not_run_again: true,
    })
  expect(world.deleted).toEqual(['row-1'])
})

test('A9 A15 an approved task of a halted agent starts after the halt is removed', async () => {
  const world = crm()
  const app = await start(world)
  const token = await addAgent(app, 'sales')
  const { start: begin, get } = await withTasks(app, token)
  const id = await begin()
  await app.call('cowork_halt', { scope: 'agent:sales', reason: 'lunch' })
  await decide(app, id)
  expect(await get(id)).toMatchObject({ status: 'working', pollIntervalMs: 1000 })
  expect(world.deleted).toEqual([])
  await app.call('cowork_resume', { scope: 'agent:sales' })
  await expect.poll(() => get(id)).toMatchObject({ status: 'completed' })
  expect(world.deleted).toEqual(['row-1'])
})

describe('two daemons on one PostgreSQL', () => {
  async function startTwo(world: Crm) {
    const url = await createTestDatabase(inject('postgresUrl'))
    const here = await start(world, { settings: { 'storage.url': url } })
    const there = await start(world, {
      settings: { 'storage.url': url, 'ledger.key_path': join(here.state, 'ledger.key') },
    })
    const token = await addAgent(here, 'sales')
    return { here, there, token }
  }

  test('A6 a decision at one daemon wakes a waiting call at the other', async () => {
    const world = crm()
    const { here, there, token } = await startTwo(world)
    const client = await connect(here, token, { capabilities: { elicitation: { url: {} } } })
    let shown = 0
    client.setRequestHandler('elicitation/create', () => {
      shown += 1
      return { action: 'accept' }
    })
    const held = client.callTool(call())
    await expect.poll(() => shown).toBe(1)
    const id = await theOne(there)
    const checked = client.callTool({
      name: 'cowork_check_approval',
      arguments: { approval_id: id, wait_seconds: 25 },
    })
    await decide(there, id)
    expect((await held).structuredContent).toMatchObject({ deleted: 'row-1' })
    expect((await checked).structuredContent).toMatchObject({ decided_by: 'owner' })
    expect(world.deleted).toEqual(['row-1'])
  })

  test('A2 A6 a task polled at both daemons runs at one', async () => {
    const world = crm()
    const { here, there, token } = await startTwo(world)
    const one = await withTasks(here, token)
    await expect
      .poll(() =>
        withTasks(there, token).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    const other = await withTasks(there, token)
    const id = await one.start()
    expect(await other.get(id)).toMatchObject({ status: 'working' })
    await decide(there, id)
    for (const { get } of [one, other])
      await expect.poll(() => get(id)).toMatchObject({ status: 'completed' })
    expect(world.deleted).toEqual(['row-1'])
    expect(await pending(here)).toEqual([])
  })
})

describe.each(everywhere)('resources, over %s, %s era', (door, era) => {
  test('SV13 L10 an agent reads and watches only its own pending requests', async () => {
    const app = await start(crm())
    const [sales, support] = [await addAgent(app, 'sales'), await addAgent(app, 'support')]
    const client = await connect(app, sales, { door, era })
    const read = async (uri: string) => {
      const [content] = (await client.readResource({ uri })).contents
      expect(content).toMatchObject({ uri, mimeType: 'application/json' })
      return JSON.parse(content && 'text' in content ? content.text : '') as object
    }
    expect(await read('cowork://inbox')).toEqual({ items: [], next: null })
    const updates: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updates.push(params.uri)
    })
    const uri = 'cowork://inbox'
    const watch = { resourceSubscriptions: [uri] }
    await (era === 'legacy' ? client.subscribeResource({ uri }) : client.listen(watch))

    const stranger = await connect(app, support)
    const theirs = String(parseFault(await stranger.callTool(call('row-9'))).payload['approval_id'])
    const mine = String(parseFault(await client.callTool(call())).payload['approval_id'])
    await expect.poll(() => updates).toContain(uri)
    expect(await read(uri)).toMatchObject({
      items: [{ id: mine, requester: 'sales', action: 'crm_delete', target: 'row-1' }],
      next: null,
    })
    expect(await read(`cowork://approval/${mine}`)).toMatchObject({
      id: mine,
      status: 'pending',
      why: { text: expect.stringContaining('trust is low') },
      change: { id: 'row-1' },
    })
    const { resources } = await client.listResources()
    const uris = resources.map((resource) => resource.uri)
    expect(uris).toEqual(expect.arrayContaining([uri, `cowork://approval/${mine}`]))
    expect(uris).not.toContain(`cowork://approval/${theirs}`)
    for (const unknown of [theirs, 'x', '', `${mine}/..`])
      await expect(client.readResource({ uri: `cowork://approval/${unknown}` })).rejects.toThrow(
        /not found/i,
      )
    await expect(client.readResource({ uri: 'cowork://inbox/x' })).rejects.toThrow(/not found/i)
    const ref = { type: 'ref/resource' as const, uri: 'cowork://approval/{id}' }
    const ids = await client.complete({ ref, argument: { name: 'id', value: mine.slice(0, 8) } })
    expect(ids.completion.values).toEqual([mine])
  })
})

test('SV13 the inbox resource is updated only when approvals change', async () => {
  const app = await start(crm())
  const token = await addAgent(app, 'sales')
  const client = await connect(app, token)
  const updates: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    updates.push(params.uri)
  })
  await client.listen({ resourceSubscriptions: ['cowork://inbox', 'ledger://head'] })
  const id = String(parseFault(await client.callTool(call())).payload['approval_id'])
  await expect
    .poll(() => updates)
    .toEqual(expect.arrayContaining(['cowork://inbox', 'ledger://head']))
  updates.length = 0
  await client.callTool({ name: 'cowork_status', arguments: {} })
  // The head is told later than the inbox would be.
  await expect.poll(() => updates).toContain('ledger://head')
  expect(updates).not.toContain('cowork://inbox')
  await decide(app, id)
  await expect.poll(() => updates).toContain('cowork://inbox')
})
