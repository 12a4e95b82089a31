import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { openProxy } from './database-line.ts'
import { createTestDatabase } from './databases.ts'
import { newFolder } from './files.ts'
import { createClient, overMcp } from './speakers.ts'

/** Breaks every connection and accepts no other until it is restored. */
async function databaseThatEnds(url: string) {
  const admin = new pg.Client({ connectionString: `${inject('postgresUrl')}/postgres` })
  await admin.connect()
  onTestFinished(() => admin.end())
  const name = new URL(url).pathname.slice(1)
  return {
    async goAway() {
      await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
      const all = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1'
      await admin.query(all, [name])
    },
    comeBack: () => admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`),
  }
}

async function openDaemons() {
  const url = await createTestDatabase(inject('postgresUrl'))
  const message: { message: string; noun?: string }[] = []
  const write = (line: string) => void message.push(JSON.parse(line) as (typeof message)[number])
  const here = await startTestApp({ 'storage.url': url })
  onTestFinished(() => here.close())
  // Daemons of one store share a key.
  const shared = { 'storage.url': url, 'ledger.key_path': join(here.state, 'ledger.key') }
  const there = await startTestApp(shared, {
    log: createLog({ level: 'error', json: true, write }),
  })
  onTestFinished(() => there.close())
  const lost = () =>
    message
      .filter(({ message }) => message.startsWith('following of other daemons failed'))
      .map((line) => line.noun)
  return { here, there, lost, database: await databaseThatEnds(url) }
}

test('J31 GR4 I4 Y6 after an outage a daemon follows changes of the other again', async () => {
  const { here, there, lost, database } = await openDaemons()
  const owner = createClient(here, here.owner)
  const ownerThere = createClient(there, there.owner)
  const path = join(newFolder(), 'a.txt')
  writeFileSync(path, 'hello')
  const { token } = await owner.call('cowork_add_agent', { id: 'reader' })
  const agent = createClient(there, String(token))
  const grant = { path, permission: 'read', agent: 'reader' }
  const given = await ownerThere.call('add_grant', grant)
  const read = () => agent.call('read_file', { path })
  await expect.poll(read).toMatchObject({ content: 'hello' })

  let isAway = true
  const traffic = [owner, agent].map(async (client) => {
    while (isAway) await client.call('list_files', { path: '' })
  })
  await database.goAway()
  await expect.poll(lost).toEqual(expect.arrayContaining(['agent.', 'grant.', 'policy.']))
  await database.comeBack()
  const inWorkspace = () => owner.call('list_files', { path: '' })
  await expect.poll(inWorkspace).not.toHaveProperty('code')
  await expect.poll(read).toMatchObject({ content: 'hello' })
  isAway = false
  await Promise.all(traffic)
  expect(lost()).toHaveLength(3)

  const policies = {
    policies: [{ id: 'crm', rules: [{ field: 'note', constraint: 'readonly' }] }],
    mappings: [{ agent_id: '*', domain: 'crm', policy_id: 'crm' }],
  }
  const { version } = await owner.call('cowork_save_policies', { body: policies })
  expect(version).toBeDefined()
  const inForce = async () => (await ownerThere.call('cowork_list_policies'))['version']
  await expect.poll(inForce).toBe(version)
  await owner.call('revoke_grant', { grant_id: given['id'] })
  await expect.poll(read).toMatchObject({ code: 'no_grant' })
  await owner.call('cowork_revoke_agent', { id: 'reader' })
  await expect.poll(read).toMatchObject({ code: 'auth_error' })
})

async function openResources({ mcpUrl }: TestApp, token: string) {
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const client = new Client({ name: 'reads', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit }))
  onTestFinished(() => client.close())
  return (uri: string) => client.readResource({ uri })
}

test.each(['disconnect', 'dropPackets'] as const)(
  'N31 A11 SV24 during a database outage (%s) every endpoint reports it and recovers',
  async (failing) => {
    const line = await openProxy(await createTestDatabase(inject('postgresUrl')))
    onTestFinished(() => line.close())
    const app = await startTestApp({ 'storage.url': line.url })
    onTestFinished(() => app.close())
    const owner = createClient(app, app.owner)
    const { token } = await owner.call('cowork_add_agent', { id: 'reader' })
    const agent = await overMcp(app, String(token))
    const read = await openResources(app, String(token))
    const readiness = async () => {
      const reply = await fetch(`${app.url}/readyz`)
      return { status: reply.status, ...((await reply.json()) as object) }
    }
    const list = () => agent.call('list_files', { path: '' })
    const write = () => agent.call('create_file', { path: 'a.txt', content: '' })
    const gone = { code: 'store_unavailable', hint: expect.stringMatching(/retry/i) as string }
    expect(await list()).toMatchObject({ isError: false })
    expect(await readiness()).toEqual({ status: 200, ok: true })

    line[failing]()
    const since = Date.now()
    const early = [list(), write(), owner.call('cowork_add_agent', { id: 'other' })]
    const why = expect.stringContaining('PostgreSQL is unavailable') as string
    await expect.poll(readiness, { timeout: 4000 }).toEqual({ status: 503, ok: false, why })
    for (const message of await Promise.all(early)) expect(message).toMatchObject(gone)
    expect(Date.now() - since).toBeLessThan(8000)
    const later = Date.now()
    for (const reply of await Promise.all([list(), write()])) expect(reply).toMatchObject(gone)
    expect(await owner.ask('/api/ledger')).toMatchObject({ status: 503, body: { error: gone } })
    await expect(read('ledger://entry/1')).rejects.toMatchObject({ data: gone })
    await expect(read('workspace:///a.txt')).rejects.toMatchObject({ data: gone })
    expect(Date.now() - later).toBeLessThan(4000)

    line.restore()
    await expect.poll(readiness, { timeout: 10_000 }).toEqual({ status: 200, ok: true })
    expect(await list()).toMatchObject({ isError: false })
    expect(await write()).toMatchObject({ isError: false })
  },
)
