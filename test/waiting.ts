// A customer database whose rows can be deleted: for an agent that has earned nothing yet, a person decides.
import { duplexPair } from 'node:stream'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ClientCapabilities, Transport } from '@modelcontextprotocol/client'
import { expect, onTestFinished } from 'vitest'
import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { defineTool } from '#base/tool.ts'
import { createLineTransport } from '../src/server/mcp/stdio.ts'
import { createRig } from './conformance/rig.ts'
import type { RigOptions } from './conformance/rig.ts'
import { personCaller } from './governance.ts'

export type Rig = Awaited<ReturnType<typeof createRig>>
type Era = 'legacy' | 'auto'
type Door = 'http' | 'stdio'

export const everywhere = (['http', 'stdio'] as const).flatMap((door) =>
  (['auto', 'legacy'] as const).map((era) => [door, era] as const),
)
export const sales = { id: 'sales', token: 'sk-cowork-sales' }
export const support = { id: 'support', token: 'sk-cowork-support' }

/** One tool that acts in the world and one that changes the store alone; both remember what they did. */
export function crm() {
  const deleted: string[] = []
  const common = {
    description: 'For the test',
    toolset: 'crm',
    effect: 'destructive',
    by: 'agent',
    input: z.object({ id: z.string(), reason: z.string().default('tidy') }),
    output: z.object({ deleted: z.string(), reason: z.string() }),
    describeTarget: ({ id }: { id: string }) => ({ domain: 'crm', target: id }),
  } as const
  const gone = () => new CoworkError('not_found', 'There is no such row.')
  const tools = [
    defineTool({
      ...common,
      name: 'crm_delete',
      title: 'Delete a row',
      run({ id, reason }, { progress }) {
        deleted.push(id)
        progress(1, 1)
        if (id === 'gone') throw gone()
        return Promise.resolve({ output: { deleted: id, reason } })
      },
    }),
    defineTool({
      ...common,
      name: 'crm_forget',
      title: 'Forget a row',
      transact(_, { id, reason }) {
        deleted.push(id)
        if (id === 'gone') throw gone()
        return Promise.resolve({ deleted: id, reason })
      },
    }),
  ]
  return { tools, deleted }
}

export const call = (id = 'row-1') => ({ name: 'crm_delete', arguments: { id } })

/** The MCP door in front of it, and what a person sees and does behind it. */
export async function setup(options: RigOptions = {}) {
  const { tools, deleted } = crm()
  const rig = await createRig({ governed: true, agents: [sales, support], tools, ...options })
  onTestFinished(() => rig.close())
  const person = personCaller()
  const waiting = async () =>
    (await rig.governance.inbox.list(person, { status: 'pending', limit: 100 })).items
  return {
    rig,
    deleted,
    waiting,
    async theOne(): Promise<string> {
      await expect.poll(async () => (await waiting()).length).toBe(1)
      return (await waiting())[0]?.id ?? ''
    },
    async decide(id: string, decision: 'approve' | 'reject', more: object = {}) {
      const decided = await rig.dispatch({
        tool: 'cowork_decide',
        arguments: { approval_ids: [id], decision, ...more },
        caller: person,
      })
      expect(decided).toMatchObject({ status: 'done', output: { errors: 0 } })
    },
  }
}

export type Connecting = {
  readonly door?: Door
  readonly era?: Era
  readonly capabilities?: ClientCapabilities
  /** None in open mode. */
  readonly token?: string | null
  /** Every JSON answer over HTTP, as it is on the wire. */
  readonly heard?: (body: string) => void
}

/** Connects a client of the SDK to the server without a network. */
export async function connect(rig: Rig, options: Connecting = {}): Promise<Client> {
  const { door = 'http', token = sales.token, heard, ...rest } = options
  if (door === 'stdio') {
    const [here, there] = duplexPair()
    void rig.door.serve(there, token === null ? {} : { token })
    return connectBy(createLineTransport(here), rest)
  }
  const arrival = { address: '127.0.0.1', ...(token !== null && { bearer: token }) }
  const fetch = async (url: string | URL, init?: RequestInit) => {
    const response = await rig.door.fetch(new Request(url, init), arrival)
    const isJson = response.headers.get('content-type')?.includes('json')
    if (isJson) heard?.(await response.clone().text())
    return response
  }
  return connectBy(new StreamableHTTPClientTransport(new URL('http://test/mcp'), { fetch }), rest)
}

export async function connectBy(
  transport: Transport,
  { era = 'auto', capabilities = {} }: Pick<Connecting, 'era' | 'capabilities'> = {},
): Promise<Client> {
  const info = { name: 'probe', version: '1' }
  const client = new Client(info, { versionNegotiation: { mode: era }, capabilities })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}

const record = z.looseObject({ status: z.string().optional() })
const created = z.looseObject({ result: z.looseObject({ taskId: z.string() }) })

/** Sends the task requests. The client of the SDK has no tasks, so `last` reads the answer to a call from the wire. */
export function createTaskClient(client: Client, last: () => string) {
  const ask = (method: string) => (taskId: string) =>
    client.request({ method, params: { taskId } }, record)
  return {
    get: ask('tasks/get'),
    cancel: ask('tasks/cancel'),
    update: ask('tasks/update'),
    async start(asked: { name: string; arguments: Record<string, unknown> } = call()) {
      await expect(client.callTool(asked)).rejects.toMatchObject({ data: { resultType: 'task' } })
      const { result } = created.parse(JSON.parse(last()))
      expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null })
      return result.taskId
    },
  }
}

export const takesTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

/** The text and the payload of an error. */
export function parseFault(result: {
  content?: unknown
  structuredContent?: unknown
  isError?: unknown
}) {
  expect(result.isError).toBe(true)
  const [{ text }] = z.tuple([z.object({ text: z.string() })]).parse(result.content)
  const { structuredContent: payload } = result
  return { text, payload: z.looseObject({ code: z.string() }).parse(payload) }
}

export const toInboxUrl = (id: string) => `http://localhost:8765/inbox/${id}`
