import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Transport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createLineTransport } from '../src/server/mcp/stdio.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'

let app: TestApp
let token: string
beforeAll(async () => {
  app = await startTestApp()
  const added = await app.call('cowork_add_agent', { id: 'reader' })
  token = ((await added.json()) as { output: { token: string } }).output.token
  for (let i = 0; i < 3; i++) await app.call('cowork_status', {}, token)
})
afterAll(() => app.close())

const doors = {
  http: () =>
    new StreamableHTTPClientTransport(new URL(app.mcpUrl), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  stdio: () => {
    const socket = connectSocket(join(app.state, 'daemon.sock'))
    socket.write(`${JSON.stringify({ cowork: 1, token })}\n`)
    return createLineTransport(socket)
  },
} satisfies Record<string, () => Transport>

describe.each([
  ['http', 'auto'],
  ['http', 'legacy'],
  ['stdio', 'auto'],
  ['stdio', 'legacy'],
] as const)('over %s, %s era', (door, mode) => {
  async function connect() {
    const client = new Client({ name: 'reader', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(doors[door]())
    return client
  }

  test('SV13 L10 an agent lists and reads its own latest entries only', async () => {
    const client = await connect()
    const own = async () => {
      const uris = (await client.listResources()).resources.map(({ uri }) => uri)
      return uris.filter((uri) => uri.startsWith('ledger:'))
    }
    await vi.waitFor(async () => expect((await own()).length).toBeGreaterThanOrEqual(4), 10_000)
    const [head, newest = '', ...rest] = await own()
    expect(head).toBe('ledger://head')
    const seqOf = (uri = '') => Number(uri.split('/').at(-1))
    expect(seqOf(newest)).toBeGreaterThan(seqOf(rest.at(-1)))
    const { contents } = await client.readResource({ uri: newest })
    const [content] = contents
    expect(content).toMatchObject({ uri: newest, mimeType: 'application/json' })
    const read = JSON.parse(content && 'text' in content ? content.text : '') as object
    expect(read).toMatchObject({
      entry: { actor: { kind: 'agent', id: 'reader' } },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    for (const uri of [
      'ledger://entry/1',
      'ledger://entry/999999',
      'ledger://entry/0',
      'ledger://entry/-1',
      'ledger://entry/x',
      'ledger://entry/1/../2',
      'ledger://other',
      'file:///etc/passwd',
    ])
      await expect(client.readResource({ uri }), uri).rejects.toThrow(/not found/i)
    await client.close()
  })

  test('SV13 completion offers only visible entry numbers', async () => {
    const client = await connect()
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates).toContainEqual(
      expect.objectContaining({ uriTemplate: 'ledger://entry/{seq}' }),
    )
    const complete = async (name: string, value: string) => {
      const ref = { type: 'ref/resource' as const, uri: 'ledger://entry/{seq}' }
      const { completion } = await client.complete({ ref, argument: { name, value } })
      return completion.values
    }
    const all = await complete('seq', '')
    expect(all.length).toBeGreaterThanOrEqual(3)
    expect(all).not.toContain('1')
    expect(await complete('seq', all[0] ?? '')).toEqual([all[0]])
    expect(await complete('seq', 'x')).toEqual([])
    expect(await complete('other', '')).toEqual([])
    await client.close()
  })

  test('SV13 watchers of the head are notified of new entries, and nothing else can be watched', async () => {
    const client = await connect()
    const updates: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updates.push(params.uri)
    })
    const uri = 'ledger://head'
    if (mode === 'legacy') {
      await client.subscribeResource({ uri })
      await expect(client.subscribeResource({ uri: 'ledger://entry/1' })).rejects.toThrow(
        /ledger:\/\/head/,
      )
    } else await client.listen({ resourceSubscriptions: [uri] })
    await app.call('cowork_status')
    await expect.poll(() => updates, { timeout: 5000 }).toContain(uri)
    expect(new Set(updates)).toEqual(new Set([uri]))
    const { contents } = await client.readResource({ uri })
    const [content] = contents
    expect(JSON.parse(content && 'text' in content ? content.text : '')).toMatchObject({
      size: expect.any(Number),
      vkey: expect.any(String),
    })
    await client.close()
  })
})

test.each([
  ['a selection', { exclude: ['work', 'cowork'] }],
  ['scopes', { scopes: ['*:files'] }],
])('SV18 SV13 resources follow %s of the agent', async (_, limits) => {
  await app.call('worksync_register_project', { project: 'hidden' })
  const id = `limited-${Object.keys(limits)[0]}`
  const added = await app.call('cowork_add_agent', { id, ...limits })
  const { output } = (await added.json()) as { output: { token: string } }
  const client = new Client({ name: 'limited', version: '1' })
  const headers = { authorization: `Bearer ${output.token}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(app.mcpUrl), { requestInit: { headers } }),
  )
  const { resources } = await client.listResources()
  expect(JSON.stringify(resources)).not.toMatch(/"(work|ledger):\/\/|cowork:\/\/inbox/)
  for (const uri of ['work://hidden', 'ledger://head', 'cowork://inbox'])
    await expect(client.readResource({ uri }), uri).rejects.toThrow(uri)
  const { completion } = await client.complete({
    ref: { type: 'ref/resource', uri: 'work://{project}' },
    argument: { name: 'project', value: 'h' },
  })
  expect(completion.values).toEqual([])
  await client.close()
})
