// Clients of a running daemon: agents and people with their tokens, over HTTP and MCP.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { actingTool } from './acting.ts'
import { proposal } from './acts.ts'
import { checked } from './app.ts'
import type { TestApp } from './app.ts'

const noTasks = {
  get: async () => undefined,
  update: async () => false,
  cancel: async () => false,
}
const { tool: writes } = actingTool('crm-server', 'write')
export const fixture = { tools: [writes], features: [], tasks: noTasks }

export type Said = Record<string, unknown>
type Item = { id: string; status: string; kind: string; requester: string } & Said
export type Page = { items: Item[]; next: string | null; counts: Record<string, number> } & Said

/** Calls a daemon over HTTP with the token. */
export function createClient({ url }: TestApp, token: string) {
  async function ask(path: string, body?: object): Promise<{ status: number; body: Said }> {
    const method = body ? 'POST' : 'GET'
    const asked = fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const reply = await checked(asked, method)
    return { status: reply.status, body: (await reply.json()) as Said }
  }
  return {
    token,
    ask,
    /** The output of a tool, or what was wrong with the code as `code`. */
    async call(tool: string, args: object = {}): Promise<Said> {
      const { body } = await ask(`/api/tools/${tool}/call`, { arguments: args })
      return (body['output'] ?? body['error']) as Said
    },
    list: async (query = '') => (await ask(`/api/approvals${query}`)).body as Page,
  }
}

export async function overMcp(app: TestApp, token?: string) {
  const client = new Client(
    { name: 'test-client', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  )
  const requestInit = token ? { headers: { authorization: `Bearer ${token}` } } : {}
  // As a program that reads fields asks for them; the text is the same (SV19).
  const url = new URL(`${app.mcpUrl}?results=structured`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
  onTestFinished(() => client.close())
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(
      name: string,
      args: object = {},
    ): Promise<Said & { isError: boolean; text: string; types: string[] }> {
      const answer = await client.callTool({ name, arguments: { ...args } })
      const blocks = answer.content as { type: string; text?: string }[]
      const structured = answer.structuredContent as Said | undefined
      const types = blocks.map(({ type }) => type)
      return { isError: answer.isError === true, text: blocks[0]?.text ?? '', types, ...structured }
    },
  }
}

export type Speaker = ReturnType<typeof createClient>
export const proposed = async (by: Speaker, more: object = {}) =>
  String((await by.call('cowork_propose', proposal(more)))['proposal_id'])

/** Creates an owner, a reviewer named Rita and two agents, which turn on authentication. */
export async function createSpeakers(app: TestApp) {
  const owner = createClient(app, app.owner)
  const agent = async (id: string) =>
    createClient(app, String((await owner.call('cowork_add_agent', { id }))['token']))
  const { link } = await owner.call('cowork_invite_person', { name: 'Rita', role: 'reviewer' })
  const code = String(link).split('=').at(-1)
  const { body } = await createClient(app, '').ask('/api/sessions', { code })
  return {
    owner,
    reviewer: createClient(app, String(body['token'])),
    sales: await agent('sales'),
    support: await agent('support'),
  }
}
