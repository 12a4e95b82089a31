import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLineTransport } from '../src/server/mcp/stdio.ts'
import { proposal } from './acts.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { connectBy, everywhere } from './waiting.ts'

type Propose = { readonly output: { readonly proposal_id: string; readonly token: string } }

let app: TestApp
let sales: string
let idle: string
const ids: string[] = []

beforeAll(async () => {
  app = await startTestApp()
  const call = async (tool: string, args: object, token?: string) =>
    ((await (await app.call(tool, { ...args }, token)).json()) as Propose).output
  const add = async (id: string) => (await call('cowork_add_agent', { id })).token
  sales = await add('sales')
  idle = await add('idle')
  const support = await add('support')
  const propose = async (token: string, more: object) => {
    ids.push((await call('cowork_propose', proposal(more), token)).proposal_id)
  }
  await propose(sales, {})
  await propose(sales, { domain: 'mail', proposed_change: { owner: 'ben' } })
  await propose(support, { target: 'deal-9' })
  await propose(sales, { target: 'decided' })
  await call('cowork_approve', { proposal_id: ids[3] })
})
afterAll(() => app.close())

describe.each(everywhere)('over %s, %s era', (door, era) => {
  function connect(token: string) {
    if (door === 'http') {
      const requestInit = { headers: { authorization: `Bearer ${token}` } }
      const url = new URL(app.mcpUrl)
      return connectBy(new StreamableHTTPClientTransport(url, { requestInit }), { era })
    }
    const socket = connectSocket(join(app.state, 'daemon.sock'))
    socket.write(`${JSON.stringify({ cowork: 1, token })}\n`)
    return connectBy(createLineTransport(socket), { era })
  }

  async function review(token: string, given: Record<string, string> = {}): Promise<string> {
    const client = await connect(token)
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toContain('review_inbox')
    const { messages } = await client.getPrompt({ name: 'review_inbox', arguments: given })
    expect(messages).toHaveLength(1)
    const [{ role, content } = {}] = messages
    expect(role).toBe('user')
    return content?.type === 'text' ? content.text : ''
  }

  test('SV13 L10 review_inbox lists the agent’s own pending requests and says that a person decides', async () => {
    const [crm, mail, foreign, decided] = ids
    const text = await review(sales)
    expect(text).toContain(`- ${crm}: update_deal on deal-1: note = call back (proposal, in crm, `)
    expect(text).toMatch(new RegExp(`${mail}: .*, in mail, suggest, high risk, confidence 0.9, `))
    expect(text).not.toContain(foreign)
    expect(text).not.toContain(decided)
    expect(text).toContain(`${app.url}/inbox`)
    const narrow = await review(sales, { domain: 'crm' })
    expect(narrow).toContain(crm)
    expect(narrow).not.toContain(mail)
    expect(await review(sales, { domain: 'elsewhere' })).toMatch(/^You have no pending requests/)
    expect(await review(idle)).toMatch(/^You have no pending requests\./)
  })
})
