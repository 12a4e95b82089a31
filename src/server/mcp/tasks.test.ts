import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { createRig } from '../../../test/conformance/rig.ts'
import type { RigOptions } from '../../../test/conformance/rig.ts'
import { requireTaskSupport, taskResult } from './tasks.ts'
import type { TaskRecord, TaskSource } from './tasks.ts'

const tasksExtension = 'io.modelcontextprotocol/tasks'
const agents = [
  { id: 'sales', token: 'sk-cowork-sales' },
  { id: 'support', token: 'sk-cowork-support' },
]

/** Durable records like approvals: each belongs to the requesting agent. */
function createRecords() {
  const records = new Map<string, { owner: string; task: TaskRecord }>()
  const find = (id: string, owner: string) => {
    const found = records.get(id)
    return found?.owner === owner ? found : undefined
  }
  const source: TaskSource = {
    get: (id, caller) => Promise.resolve(find(id, caller.id)?.task),
    update(id, responses, caller) {
      const found = find(id, caller.id)
      if (found) found.task = { ...found.task, status: 'completed', result: { ...responses } }
      return Promise.resolve(found !== undefined)
    },
    cancel(id, caller) {
      const found = find(id, caller.id)
      if (found) found.task = { ...found.task, status: 'cancelled' }
      return Promise.resolve(found !== undefined)
    },
  }
  const wait = defineTool({
    name: 'wait',
    title: 'Wait',
    description: 'For the test',
    toolset: 'test',
    effect: 'write',
    by: 'anyone',
    input: z.object({}),
    speaksMcp: true,
    output: z.unknown(),
    run(_, call) {
      requireTaskSupport(call)
      const task: TaskRecord = {
        taskId: call.id,
        status: 'input_required',
        createdAt: '2026-11-15T09:00:00.000Z',
        lastUpdatedAt: '2026-11-15T09:00:00.000Z',
        ttlMs: null,
        pollIntervalMs: 500,
        inputRequests: { ok: { method: 'elicitation/create' } },
      }
      records.set(call.id, { owner: call.caller.id, task })
      return Promise.resolve({ output: taskResult(task) })
    },
  })
  return { source, wait }
}

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

async function setup(options: RigOptions = {}) {
  const { source, wait } = createRecords()
  const rig = await createRig({ tools: [wait], tasks: source, agents, ...options })
  open.push(rig)
  /** A current request as sent over HTTP. */
  async function ask(token: string, method: string, params: object, declares = true) {
    const name = 'taskId' in params ? String(params.taskId) : 'wait'
    const request = new Request('http://test/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': name,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: {
          ...params,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {
              ...(declares && { extensions: { [tasksExtension]: {} } }),
            },
          },
        },
      }),
    })
    const response = await rig.door.fetch(request, { address: '127.0.0.1', bearer: token })
    const reply = z
      .looseObject({ result: z.looseObject({}).optional() })
      .parse(await response.json())
    return { status: response.status, ...reply }
  }
  return { rig, ask }
}

const call = { name: 'wait', arguments: {} }

test('SV15 a call returns a task that can be polled immediately', async () => {
  const { ask } = await setup()
  const { result } = await ask('sk-cowork-sales', 'tools/call', call)
  expect(result).toMatchObject({ resultType: 'task', status: 'input_required', ttlMs: null })
  expect(result).not.toHaveProperty('inputRequests')
  const { taskId } = z.looseObject({ taskId: z.string() }).parse(result)
  const asked = await ask('sk-cowork-sales', 'tasks/get', { taskId })
  expect(asked.result).toMatchObject({ taskId, inputRequests: { ok: expect.anything() } })

  const inputResponses = { ok: { action: 'accept', content: {} } }
  const update = await ask('sk-cowork-sales', 'tasks/update', { taskId, inputResponses })
  expect(update.result).toMatchObject({ resultType: 'complete' })
  const done = await ask('sk-cowork-sales', 'tasks/get', { taskId })
  expect(done.result).toMatchObject({ status: 'completed', result: inputResponses })
})

test('SV15 a task of another owner is unknown, like a missing one', async () => {
  const { ask } = await setup()
  const { result } = await ask('sk-cowork-sales', 'tools/call', call)
  const { taskId } = z.looseObject({ taskId: z.string() }).parse(result)
  for (const [token, id] of [
    ['sk-cowork-support', taskId],
    ['sk-cowork-sales', 'no-such-task'],
  ] as const)
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect(await ask(token, method, { taskId: id })).toMatchObject({ error: { code: -32602 } })
  const untouched = await ask('sk-cowork-sales', 'tasks/get', { taskId })
  expect(untouched.result).toMatchObject({ status: 'input_required' })
})

test('SV15 a client without task support gets an error', async () => {
  const { ask } = await setup()
  const needed = { requiredCapabilities: { extensions: { [tasksExtension]: {} } } }
  const refused = { status: 400, error: { code: -32021, data: needed } }
  expect(await ask('sk-cowork-sales', 'tools/call', call, false)).toMatchObject(refused)
  expect(await ask('sk-cowork-sales', 'tasks/get', { taskId: 'x' }, false)).toMatchObject(refused)
})

test('SV15 task support is advertised', async () => {
  const rig = await createRig({ tools: [createRecords().wait] })
  open.push(rig)
  const client = new Client(
    { name: 'probe', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  )
  const fetch = (url: string | URL, init?: RequestInit) =>
    rig.door.fetch(new Request(url, init), { address: '127.0.0.1' })
  await client.connect(new StreamableHTTPClientTransport(new URL('http://test/mcp'), { fetch }))
  open.push(client)
  expect(client.getServerCapabilities()?.extensions?.[tasksExtension]).toEqual({})
})
