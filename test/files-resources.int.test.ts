import { rmSync, writeFileSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLineTransport } from '../src/server/mcp/stdio.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { buildPdf } from './documents.ts'
import { listEntries, newFolder, openPlace } from './files.ts'
import type { Place } from './files.ts'
import { createClient } from './speakers.ts'

let app: TestApp
let token: string
beforeAll(async () => {
  app = await startTestApp()
  const added = await createClient(app, app.owner).call('cowork_add_agent', { id: 'reader' })
  token = String(added['token'])
  const agent = createClient(app, token)
  await agent.call('create_file', { path: 'Documents/notes/a note.md', content: 'hello' })
  await agent.call('create_file', { path: 'Documents/notes/other.md', content: 'other' })
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

const noteUri = 'workspace:///Documents/notes/a%20note.md'

describe.each([
  ['http', 'auto'],
  ['http', 'legacy'],
  ['stdio', 'auto'],
  ['stdio', 'legacy'],
] as const)('over %s, %s era', (door, mode) => {
  async function connect() {
    const client = new Client({ name: 'reader', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(doors[door]())
    onTestFinished(() => client.close())
    return client
  }

  test('SV13 FT8 files of the workspace are listed, read and completed, and reading is on record', async () => {
    const client = await connect()
    const { resources } = await client.listResources()
    const note = resources.find(({ uri }) => uri === noteUri)
    expect(note).toMatchObject({ name: 'Documents/notes/a note.md' })
    // The MIME type is known only when the file is read.
    expect(note).not.toHaveProperty('mimeType')
    expect(await client.readResource({ uri: noteUri })).toMatchObject({
      contents: [{ uri: noteUri, mimeType: 'text/markdown', text: 'hello' }],
    })
    await expect
      .poll(async () => (await listEntries(app, '&type=call.done')).at(-1))
      .toMatchObject({
        actor: { id: 'reader' },
        subject: join(app.workspace, 'Documents/notes/a note.md'),
        data: { tool: 'read_file' },
      })
    for (const path of ['missing', '../owner.token', '%2e%2e/owner.token', '/etc/passwd', '%'])
      await expect(client.readResource({ uri: `workspace:///${path}` }), path).rejects.toThrow(
        /not found/i,
      )
    const ref = { type: 'ref/resource' as const, uri: 'workspace:///{+path}' }
    const complete = async (value: string) =>
      (await client.complete({ ref, argument: { name: 'path', value } })).completion.values
    expect(await complete('Doc')).toEqual(['Documents/'])
    expect(await complete('Documents/notes/o')).toEqual(['Documents/notes/other.md'])
    expect(await complete('../')).toEqual([])
  })

  test('SV13 FT9 who watches a file hears that it was changed, by whomever', async () => {
    const client = await connect()
    const updatedUris: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updatedUris.push(params.uri)
    })
    const name = `watched-${door}-${mode}.txt`
    const uri = `workspace:///${name}`
    writeFileSync(join(app.workspace, name), 'one')
    if (mode === 'legacy') {
      for (const closed of ['', '../x', '.env', '.cowork/trash/x', '%2e%2e/x'])
        await expect(
          client.subscribeResource({ uri: `workspace:///${closed}` }),
          closed,
        ).rejects.toThrow(/Cannot watch/)
      await client.subscribeResource({ uri })
    } else await client.listen({ resourceSubscriptions: [uri] })
    writeFileSync(join(app.workspace, name), 'one and two')
    await expect.poll(() => updatedUris, { timeout: 5000 }).toContain(uri)
    updatedUris.length = 0
    rmSync(join(app.workspace, name))
    await expect.poll(() => updatedUris, { timeout: 5000 }).toContain(uri)
    expect(new Set(updatedUris)).toEqual(new Set([uri]))
  })

  test('SV13 GR4 grants can be read, and watched for what changes', async () => {
    const client = await connect()
    const updatedUris: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updatedUris.push(params.uri)
    })
    const uri = 'cowork://grants'
    if (mode === 'legacy') await client.subscribeResource({ uri })
    else await client.listen({ resourceSubscriptions: [uri] })
    const path = newFolder()
    await createClient(app, app.owner).call('add_grant', {
      path,
      permission: 'read',
      agent: 'reader',
    })
    await expect.poll(() => updatedUris).toContain(uri)
    const { contents } = await client.readResource({ uri })
    const [content] = contents
    expect(content && 'text' in content ? content.text : '').toContain(path)
  })
})

test('SV13 what a session watched ends with it, and one agent cannot watch for all', async () => {
  const place = await openPlace()
  const { app: opened, token: bearer } = place
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } }
  const connected = async () => {
    const client = new Client({ name: 'watcher', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(opened.mcpUrl), { requestInit }))
    onTestFinished(() => client.close())
    return client
  }
  const watchedBy = async (client: Client) => {
    let count = 0
    for (; count < 300; count++)
      try {
        await client.subscribeResource({ uri: `workspace:///w${count}` })
      } catch {
        break
      }
    return count
  }
  const first = await connected()
  expect(await watchedBy(first)).toBe(250)
  const whatever = Array.from({ length: 30 }, (_, n) => `workspace:///more${n}`)
  const asked = whatever.map((uri) => first.subscribeResource({ uri }))
  expect(new Set((await Promise.allSettled(asked)).map(({ status }) => status))).toEqual(
    new Set(['rejected']),
  )
  await (first.transport as StreamableHTTPClientTransport).terminateSession()
  expect(await watchedBy(await connected())).toBe(250)
})

test('SV13 what a client of the newer era listened to over stdio ends with that request', async () => {
  const client = new Client(
    { name: 'listener', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  )
  await client.connect(doors.stdio())
  onTestFinished(() => client.close())
  const uris = Array.from({ length: 100 }, (_, n) => `workspace:///listened${n}`)
  for (let n = 0; n < 4; n++) {
    const listening = await client.listen({ resourceSubscriptions: uris })
    expect(listening.honoredFilter.resourceSubscriptions).toHaveLength(100)
    await listening.close()
  }
})

test('SV13 a client of the older era that asks to listen is refused, and nothing is watched for it', async () => {
  const transport = doors.stdio()
  onTestFinished(() => transport.close())
  const asked = new Map<unknown, (answer: JSONRPCMessage) => void>()
  transport.onmessage = (message) => 'id' in message && asked.get(message.id)?.(message)
  const ask = (method: string, params: Record<string, unknown>) =>
    new Promise<JSONRPCMessage>((resolve) => {
      const id = asked.size + 1
      asked.set(id, resolve)
      void transport.send({ jsonrpc: '2.0', id, method, params })
    })
  await transport.start()
  await ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'listener', version: '1' },
  })
  await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  const uris = Array.from({ length: 100 }, (_, n) => `workspace:///refused${n}`)
  for (let n = 0; n < 3; n++)
    expect(
      await ask('subscriptions/listen', { notifications: { resourceSubscriptions: uris } }),
    ).toHaveProperty('error')
  const subscribe = { uri: 'workspace:///subscribed' }
  expect(await ask('resources/subscribe', subscribe)).toHaveProperty('result')
})

async function readerOf({ app: { mcpUrl }, token: bearer }: Place) {
  const client = new Client({ name: 'reader', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit }))
  onTestFinished(() => client.close())
  const textsOf = async (path: string) =>
    (await client.readResource({ uri: `workspace:///${path}` })).contents.map((content) =>
      'text' in content ? content.text : content.blob,
    )
  const listed = async () =>
    (await client.listResources()).resources
      .map(({ uri }) => uri)
      .filter((uri) => uri.startsWith('workspace:'))
  return { textsOf, listed }
}

test('SV13 PV5 PV8 F4 a resource says what read_file says: secrets, untrusted text, and that there is more', async () => {
  const place = await openPlace({ 'security.max_file_size_mb': 1 })
  const { textsOf } = await readerOf(place)
  const put = (name: string, bytes: string | Buffer) =>
    writeFileSync(join(place.workspace, name), bytes)
  const french = 'Les élèves sont allés à la forêt près du château.\n'.repeat(10_000)
  put('plain.txt', 'plain')
  put('server.pem', 'key')
  put('report.pdf', buildPdf('figures'))
  put('latin.txt', Buffer.from(french, 'latin1'))
  put('long.txt', Buffer.from(french.repeat(2), 'latin1'))
  put('large.txt', 'x'.repeat(2 * 1024 * 1024))

  expect(await textsOf('plain.txt')).toEqual(['plain'])
  expect(await textsOf('server.pem')).toEqual(['key', expect.stringContaining('Sensitive file')])
  expect(await textsOf('report.pdf')).toEqual([
    expect.stringContaining('figures'),
    expect.stringContaining('untrusted'),
  ])
  expect(await textsOf('latin.txt')).toEqual([french])
  expect(await textsOf('long.txt')).toEqual([
    expect.any(String),
    expect.stringMatching(/Truncated.*read_file.*byte_from \d+/),
  ])
  await expect(textsOf('large.txt')).rejects.toThrow(/bytes.*Read a/)
})

test('SV13 A9 the newest of the workspace are listed, however much was made elsewhere, and not to a halted agent', async () => {
  const place = await openPlace()
  const { listed } = await readerOf(place)
  await place.agent.call('create_file', { path: 'Documents/mine.md', content: 'x' })
  const folder = newFolder()
  await place.grant(folder, 'read-write')
  for (let n = 0; n < 45; n++)
    await place.agent.call('create_file', { path: join(folder, `${n}.txt`), content: 'x' })
  expect(await listed()).toEqual(['workspace:///Documents/mine.md'])
  await place.owner.call('cowork_halt', { reason: 'stop' })
  expect(await listed()).toEqual([])
})

test('SV13 FT8 A9 watching is a call: on record with its file, and not for a halted agent', async () => {
  const { app: opened, token: bearer, owner } = await openPlace()
  const client = new Client({ name: 'watcher', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(opened.mcpUrl), { requestInit }))
  onTestFinished(() => client.close())
  await client.subscribeResource({ uri: 'workspace:///temp/watched.txt' })
  expect((await listEntries(opened, '&type=call.done')).at(-1)).toMatchObject({
    subject: join(opened.workspace, 'temp/watched.txt'),
  })
  await owner.call('cowork_halt', { reason: 'stop' })
  await expect(client.subscribeResource({ uri: 'workspace:///temp/b.txt' })).rejects.toThrow(
    /Cannot watch/,
  )
})

test.each(['http', 'stdio'] as const)(
  'SV13 I11 over %s nobody hears of what they may not watch because another watches it',
  async (door) => {
    const { app: opened, token: bearer, owner } = await openPlace()
    const added = await owner.call('cowork_add_agent', { id: 'planner', scopes: ['read:work'] })
    const hearing = async (own: string) => {
      const client = new Client(
        { name: 'x', version: '1' },
        { versionNegotiation: { mode: 'auto' } },
      )
      const requestInit = { headers: { authorization: `Bearer ${own}` } }
      const socket = door === 'stdio' && connectSocket(join(opened.state, 'daemon.sock'))
      if (socket) socket.write(`${JSON.stringify({ cowork: 1, token: own })}\n`)
      await client.connect(
        socket
          ? createLineTransport(socket)
          : new StreamableHTTPClientTransport(new URL(opened.mcpUrl), { requestInit }),
      )
      onTestFinished(() => client.close())
      const updatedUris: string[] = []
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
        updatedUris.push(params.uri)
      })
      await client.listen({
        resourceSubscriptions: ['workspace:///temp/a.txt', 'cowork://grants'],
      })
      return updatedUris
    }
    const reader = await hearing(bearer)
    const planner = await hearing(String(added['token']))
    writeFileSync(join(opened.workspace, 'temp/a.txt'), 'new')
    await expect.poll(() => reader, { timeout: 5000 }).toContain('workspace:///temp/a.txt')
    await owner.call('add_grant', { path: newFolder(), permission: 'read' })
    await expect.poll(() => planner).toEqual(['cowork://grants'])
  },
)
