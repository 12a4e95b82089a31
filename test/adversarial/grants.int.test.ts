// Cases of the research list that are about what is granted, to whom, and what a refusal tells.
import fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startTestApp } from '../app.ts'
import { createClient } from '../speakers.ts'
import type { Said } from '../speakers.ts'
import { openStand, secret, secretName } from './stand.ts'
import type { Agent, Stand } from './stand.ts'

let stand: Stand
let agent: Agent
beforeAll(async () => {
  stand = await openStand()
  agent = await stand.connect('http')
})
afterAll(() => stand.close())

const codeOf = async (tool: string, args: object) => (await agent.call(tool, args)).code
const namesIn = (path: string) => fs.readdirSync(path).toSorted()

test('N33 PV9 case 68: another folder in place of the granted one is not the granted one', async () => {
  const path = stand.folder('house', { 'file.txt': 'mine' })
  await stand.grant(path, 'read-write')
  expect(await agent.call('read_file', { path: join(path, 'file.txt') })).toMatchObject({
    text: 'mine',
  })
  fs.renameSync(path, `${path}-before`)
  stand.folder('house', { 'file.txt': secret })
  const all = async () => [
    await codeOf('read_file', { path: join(path, 'file.txt') }),
    await codeOf('list_files', { path }),
    await codeOf('create_file', { path: join(path, 'new.txt'), content: 'x' }),
  ]
  const replaced = ['root_replaced', 'root_replaced', 'root_replaced']
  expect(await all()).toEqual(replaced)
  // A new worker pins the folders again, and misses the one that its grant names.
  await stand.grant(stand.folder('another'), 'read')
  expect(await all()).toEqual(replaced)
  expect(namesIn(path)).toEqual(['file.txt'])
})

test('N33 GR1 case 69: a grant on a link is for what it leads to, and says so', async () => {
  const real = stand.folder('real', { 'file.txt': 'theirs' })
  const link = join(stand.base, 'shortcut')
  fs.symlinkSync(real, link)
  const asked = { path: link, permission: 'read', reason: 'to read it' }
  const { output } = await agent.call('request_grant', asked)
  const { items } = await stand.owner.list('?status=pending&kind=grant')
  const item = items.find(({ id }) => id === output['request_id'])
  const shown = await stand.owner.ask(`/api/approvals/${item?.id}`)
  expect(JSON.stringify(shown.body)).toContain(real)
  expect(JSON.stringify(item)).not.toContain(real)
  const decision = { decision: 'approve', grant: { choice: 'folder' } }
  await stand.owner.call('cowork_decide', { approval_ids: [item?.id], ...decision })
  expect((await agent.call('request_grant', asked)).output).toMatchObject({ granted_path: real })
  expect((await agent.call('read_file', { path: join(real, 'file.txt') })).text).toBe('theirs')
  fs.unlinkSync(link)
  fs.symlinkSync(stand.outside, link)
  const moved = await agent.call('read_file', { path: join(link, secretName) })
  expect(moved).toMatchObject({ code: 'no_grant' })
  expect(moved.wire).not.toContain(secret)
})

test('N33 GR5 case 71: a session’s grant ends with the session', async () => {
  const path = stand.folder('for-now', { 'file.txt': 'theirs' })
  const first = await stand.connect('stdio')
  const asked = { path, permission: 'read', reason: 'for now' }
  const { output } = await first.call('request_grant', asked)
  const decision = { decision: 'approve', grant: { choice: 'folder_session' } }
  await stand.owner.call('cowork_decide', { approval_ids: [output['request_id']], ...decision })
  const read = { path: join(path, 'file.txt') }
  expect(await first.call('read_file', read)).toMatchObject({ text: 'theirs' })
  const second = await stand.connect('stdio')
  expect(await second.call('read_file', read)).toMatchObject({ code: 'no_grant' })
  await first.close()
  const live = async () =>
    ((await stand.owner.call('list_grants'))['grants'] as Said[]).map((grant) => grant['path'])
  await expect.poll(live).not.toContain(path)
  expect(await second.call('read_file', read)).toMatchObject({ code: 'no_grant' })
})

test('N33 GR6 case 72: a granted file does not open its folder', async () => {
  const path = stand.folder('files', { 'one.txt': 'one', 'two.txt': secret })
  await stand.grant(join(path, 'one.txt'), 'read')
  expect((await agent.call('read_file', { path: join(path, 'one.txt') })).text).toBe('one')
  for (const [tool, args] of [
    ['read_file', { path: join(path, 'two.txt') }],
    ['list_files', { path }],
    ['file_tree', { path }],
    ['create_file', { path: join(path, 'new.txt'), content: 'x' }],
  ] as const)
    expect(await codeOf(tool, args), tool).toBe('no_grant')
  expect(await codeOf('update_file', { path: join(path, 'one.txt'), content: '1' })).toBe(
    'read_only_grant',
  )
  const found = await agent.call('search_files', { query: 'two', search_in: 'granted' })
  expect(found.output).toMatchObject({ total_count: 0 })
})

test('N33 PV3 case 11: a person can allow files with a second name', async () => {
  const path = stand.folder('twins', {})
  fs.linkSync(join(stand.outside, 'shared.txt'), join(path, 'twin.txt'))
  await stand.grant(path, 'read', { hard_links: true })
  expect((await agent.call('read_file', { path: join(path, 'twin.txt') })).text).toBe(
    'one and two\n',
  )
})

test('N33 GR6: a refusal reveals nothing about files outside', async () => {
  const callWire = async (tool: string, path: string, more: object = {}) => {
    const { wire } = await agent.call(tool, { path, ...more })
    return wire.replaceAll(path, '…').replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '')
  }
  const there = join(stand.outside, secretName)
  const missing = join(stand.outside, 'nothing.txt')
  for (const tool of ['read_file', 'list_files', 'file_versions', 'check_grant'])
    expect(await callWire(tool, there), tool).toBe(await callWire(tool, missing))
  const more = { content: 'x', overwrite: true }
  expect(await callWire('create_file', there, more)).toBe(
    await callWire('create_file', missing, more),
  )
  const asked = { permission: 'read', reason: 'curious' }
  expect(await callWire('request_grant', there, asked)).toBe(
    await callWire('request_grant', missing, asked),
  )
})

test('N33 GR3: who asks for access learns nothing of what is there', async () => {
  const path = stand.folder('unseen', { 'unheard-of.txt': 'x' })
  const { output } = await agent.call('request_grant', { path, permission: 'read', reason: 'x' })
  const id = String(output['request_id'])
  const person = await stand.owner.ask(`/api/approvals/${id}`)
  expect(JSON.stringify(person.body)).toContain('unheard-of.txt')
  const own = createClient(stand.app, stand.token)
  for (const address of [
    '/api/approvals',
    `/api/approvals/${id}`,
    '/api/ledger?newest=true&limit=1000&payloads=true',
  ])
    expect(JSON.stringify((await own.ask(address)).body), address).not.toContain('unheard-of.txt')
  const { wire } = await agent.call('cowork_check_approval', { approval_id: id })
  expect(wire).not.toContain('unheard-of.txt')
})

test('N33 PV4: asking for a link does not tell where it leads', async () => {
  const link = join(stand.folder('doors'), 'door')
  fs.symlinkSync(stand.state, link)
  const asked = { path: link, permission: 'read', reason: 'x' }
  const { code, wire } = await agent.call('request_grant', asked)
  expect(code).toBe('forbidden_path')
  expect(wire).not.toContain(stand.state)
})

test('N33 FT4: the copy that an update leaves can be read, also under a grant', async () => {
  const path = join(stand.folder('backed-up', { 'file.txt': 'before' }), 'file.txt')
  await stand.grant(path.slice(0, -'/file.txt'.length), 'read-write')
  const { output } = await agent.call('update_file', { path, content: 'after' })
  const copy = await agent.call('read_file', { path: String(output['backup_path']) })
  expect(copy).toMatchObject({ text: 'before' })
})

test('N33 PV4 case 85: under a grant around it, cowork’s own state is not there', async () => {
  const state = stand.folder('own-state')
  const around = stand.folder('around', { 'needle.txt': 'x' })
  fs.renameSync(state, join(around, 'state'))
  const workspace = stand.folder('own-workspace')
  const app = await startTestApp(
    { 'workspace.path': workspace, grants: [{ path: around, permission: 'read-write' }] },
    { state: join(around, 'state') },
  )
  onTestFinished(() => app.close())
  const owner = createClient(app, app.owner)
  const added = await owner.call('cowork_add_agent', { id: 'mallory' })
  const mallory = createClient(app, String(added['token']))
  const inState = join(around, 'state', 'cowork.db')
  expect(fs.existsSync(inState)).toBe(true)
  expect(await mallory.call('read_file', { path: inState })).toMatchObject({
    code: 'forbidden_path',
  })
  const listed = await mallory.call('list_files', { path: around, recursive: true })
  expect((listed['files'] as Said[]).map(({ name }) => name)).toEqual(['needle.txt'])
  for (const search_type of ['filename', 'content'])
    expect(
      await mallory.call('search_files', { query: 'cowork', search_in: 'granted', search_type }),
    ).toMatchObject({ total_count: 0 })
})
