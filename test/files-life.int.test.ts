import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '#base/log.ts'
import { prepareWorkspace } from '../src/files/workspace.ts'
import { startTestApp } from './app.ts'
import { addAgent, listEntries, newFolder, openPlace } from './files.ts'
import { createClient, createSpeakers } from './speakers.ts'

const day = 24 * 60 * 60 * 1000
const newState = () => mkdtempSync(join(tmpdir(), 'cowork-life-'))

test('F1 a daemon whose workspace cannot be used does not start, and says what to do', async () => {
  const state = newState()
  const missing = { 'workspace.create_if_missing': false }
  await expect(startTestApp(missing, { state })).rejects.toMatchObject({
    code: 'workspace_missing',
    hint: expect.stringContaining('workspace.path'),
  })
  const file = join(state, 'file')
  writeFileSync(file, '')
  await expect(startTestApp({ 'workspace.path': file }, { state })).rejects.toMatchObject({
    code: 'workspace_unusable',
  })
  await expect(startTestApp({ 'workspace.path': '/' }, { state })).rejects.toMatchObject({
    code: 'forbidden_path',
    hint: expect.stringContaining('folder for agents only'),
  })
  // The folder is free again for a daemon that is set right.
  const app = await startTestApp({}, { state })
  const made = await listEntries(app, '&type=workspace.made')
  expect(made).toMatchObject([{ subject: app.workspace, actor: { kind: 'system' } }])
  await app.close()
  const again = await startTestApp({}, { state })
  onTestFinished(() => again.close())
  expect(await listEntries(again, '&type=workspace.made')).toHaveLength(1)
})

test('F1 F2 a workspace that is named over a link is the workspace by either name', async () => {
  const real = newFolder()
  const given = join(newFolder(), 'link')
  symlinkSync(real, given)
  const { agent } = await openPlace({ 'workspace.path': given })
  await agent.call('create_file', { path: 'a.txt', content: 'a' })
  for (const folder of [given, real])
    expect(await agent.call('read_file', { path: join(folder, 'a.txt') })).toMatchObject({
      content: 'a',
      path: join(real, 'a.txt'),
    })
  expect(await agent.call('check_grant', { path: join(given, 'a.txt') })).toMatchObject({
    has_access: true,
    granted_path: real,
  })
  expect(await agent.call('read_file', { path: `${given}-evil/a.txt` })).toMatchObject({
    code: 'no_grant',
  })
})

test('F6 what an earlier File Ops left in the workspace is known after the first start', async () => {
  const state = newState()
  mkdirSync(join(state, 'workspace', '.fileops'), { recursive: true })
  const index = { files: [{ path: 'old.md', created_by: 'annabelle' }] }
  writeFileSync(join(state, 'workspace', 'old.md'), 'old')
  writeFileSync(join(state, 'workspace', '.fileops', 'index.json'), JSON.stringify(index))
  writeFileSync(join(state, 'workspace', '.fileops', 'audit.log'), '{"operation":"read_file"}\n')
  const { app, workspace } = await openPlace({}, { state })
  expect(await listEntries(app, '&type=workspace.imported')).toMatchObject([
    { data: { files: 1, audit: { lines: 1 } } },
  ])
  const own = join(workspace, '.cowork', 'index.json')
  await expect.poll(() => (existsSync(own) ? readFileSync(own, 'utf8') : '')).toContain('annabelle')
})

test('F1 F6 a first start that was cut off before its record is recorded and imported by the next', async () => {
  const state = newState()
  const path = join(state, 'workspace')
  mkdirSync(join(path, '.fileops'), { recursive: true })
  writeFileSync(join(path, '.fileops', 'audit.log'), '{}\n')
  prepareWorkspace({ path, create_if_missing: true, structure: [] }, silentLog)
  const first = await startTestApp({}, { state })
  for (const type of ['workspace.made', 'workspace.imported'])
    expect(await listEntries(first, `&type=${type}`)).toHaveLength(1)
  await first.close()
  const second = await startTestApp({}, { state })
  onTestFinished(() => second.close())
  expect(await listEntries(second, '&type=workspace.made')).toHaveLength(1)
})

test('F6 the index knows of what was made right before the end', async () => {
  const { app, agent, workspace } = await openPlace()
  await agent.call('create_file', { path: 'last.txt', content: 'last' })
  await app.close()
  expect(readFileSync(join(workspace, '.cowork', 'index.json'), 'utf8')).toContain('last.txt')
})

test('TR1 after a crash between the act and its record the trash is known again', async () => {
  const state = newState()
  const place = await openPlace({}, { state })
  for (const path of ['a.txt', 'b.txt', 'c.txt'])
    await place.agent.call('create_file', { path, content: path })
  const id = async (path: string) => (await place.agent.call('delete_file', { path }))['trash_id']
  const [lost, gone, kept] = [await id('a.txt'), await id('b.txt'), await id('c.txt')]
  await place.app.close()
  // As if the daemon had died before it wrote the row of one, and after it had restored another.
  const db = new DatabaseSync(join(state, 'cowork.db'))
  db.prepare('DELETE FROM file_trash WHERE id = ?').run(String(lost))
  db.close()
  const trash = join(place.workspace, '.cowork', 'trash')
  renameSync(join(trash, String(gone)), join(newFolder(), 'elsewhere'))

  const app = await startTestApp({}, { state })
  onTestFinished(() => app.close())
  const owner = createClient(app, app.owner)
  const ids = async () =>
    ((await owner.call('trash_list'))['items'] as { trash_id: string }[]).map((one) => one.trash_id)
  await expect.poll(ids).toEqual([kept, lost])
  expect(await listEntries(app, '&type=trash.reconciled')).toMatchObject([
    { data: { counts: { found: 1, gone: 1 }, found: [{ id: lost }], gone: [{ id: gone }] } },
  ])
  expect(await owner.call('trash_restore', { trash_id: lost })).toMatchObject({
    restored_path: join(place.workspace, 'a.txt'),
  })
  expect(readFileSync(join(place.workspace, 'a.txt'), 'utf8')).toBe('a.txt')
})

test('TR1 TR4 what was deleted or replaced goes after its time, and that is on record', async () => {
  const state = newState()
  const place = await openPlace({}, { state })
  await place.agent.call('create_file', { path: 'a.txt', content: 'one' })
  await place.agent.call('update_file', { path: 'a.txt', content: 'two', create_backup: false })
  await place.agent.call('delete_file', { path: 'a.txt' })
  const contents = () =>
    readdirSync(join(state, 'versions'), { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    ).length
  expect(contents()).toBe(1)
  await place.app.close()

  const later = await startTestApp({}, { state, now: () => Date.now() + 29 * day })
  await expect.poll(() => listEntries(later, '&type=daemon.started')).toHaveLength(2)
  const items = async (app: typeof later) =>
    (await createClient(app, app.owner).call('trash_list'))['items']
  expect(await items(later)).toHaveLength(1)
  await later.close()
  expect(contents()).toBe(1)

  const after = await startTestApp({}, { state, now: () => Date.now() + 31 * day })
  onTestFinished(() => after.close())
  await expect.poll(() => items(after)).toEqual([])
  await expect.poll(contents).toBe(0)
  expect(await listEntries(after, '&type=trash.purged')).toMatchObject([
    { subject: join(place.workspace, 'a.txt'), data: { by: 'writer', why: 'retention' } },
  ])
  expect(await listEntries(after, '&type=versions.dropped')).toMatchObject([
    { data: { versions: 1, contents: 1 } },
  ])
  const trash = join(place.workspace, '.cowork', 'trash')
  await expect.poll(() => readdirSync(trash)).toEqual([])
})

test('TR1 owners purge what they name or all, others and agents nothing', async () => {
  const { app, agent, owner, api } = await openPlace()
  const { reviewer } = await createSpeakers(app)
  const ids: unknown[] = []
  for (const path of ['a.txt', 'b.txt', 'c.txt']) {
    await agent.call('create_file', { path, content: 'x' })
    ids.push((await agent.call('delete_file', { path }))['trash_id'])
  }
  expect(await api.call('trash_purge', { all: true })).toMatchObject({ code: 'human_required' })
  expect(await reviewer.call('trash_purge', { all: true })).toMatchObject({
    code: 'role_required',
  })
  expect(await owner.call('trash_purge', { trash_ids: [ids[0]] })).toMatchObject({
    purged: [ids[0]],
    count: 1,
  })
  expect(await owner.call('trash_purge', { trash_ids: ['none'] })).toMatchObject({
    code: 'not_found',
  })
  expect((await owner.call('trash_list'))['items']).toHaveLength(2)
  expect(await owner.call('trash_purge', { all: true })).toMatchObject({ count: 2 })
  expect((await owner.call('trash_list'))['items']).toEqual([])
})

test('C5 people see which folders take the room', async () => {
  const { agent, owner, workspace, api } = await openPlace({ 'workspace.structure': ['a/b', 'c'] })
  await agent.call('create_file', { path: 'a/b/x.txt', content: 'xxx' })
  await agent.call('create_file', { path: 'c/y.txt', content: 'yy' })
  const usage = await owner.call('workspace_usage', { depth: 2 })
  expect(usage).toMatchObject({ path: workspace })
  expect(usage['folders']).toEqual(
    expect.arrayContaining([
      { path: 'a', files: 1, bytes: 3 },
      { path: 'a/b', files: 1, bytes: 3 },
      { path: 'c', files: 1, bytes: 2 },
    ]),
  )
  expect(usage['largest_files']).toContainEqual({ path: 'c/y.txt', bytes: 2 })
  expect(await api.call('workspace_usage')).toMatchObject({ code: 'human_required' })
})

test('SV25 a file of 20 MB comes through both doors for whoever has a token, and nothing else does', async () => {
  const { app, agent, api, token, workspace } = await openPlace()
  const content = 'x'.repeat(20 * 1024 * 1024)
  expect(await agent.call('create_file', { path: 'mcp.txt', content })).toMatchObject({
    size_bytes: content.length,
  })
  expect(await api.call('create_file', { path: 'api.txt', content })).toMatchObject({
    size_bytes: content.length,
  })
  expect(readFileSync(join(workspace, 'api.txt'), 'utf8')).toBe(content)
  expect(
    await api.call('read_file', { path: 'api.txt', max_bytes: 10, padding: content }),
  ).toMatchObject({
    code: 'too_large',
  })
  const post = (bearer: string | undefined, name: string) =>
    fetch(app.mcpUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(bearer && { authorization: `Bearer ${bearer}` }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: { path: 'x.txt', content } },
      }),
    })
  expect((await post(undefined, 'create_file')).status).toBe(413)
  expect((await post('sk-cowork-wrong', 'create_file')).status).toBe(401)
  expect((await post(token, 'delete_file')).status).toBe(413)
  expect(existsSync(join(workspace, 'x.txt'))).toBe(false)
})

test('I11 an agent without the scope for writing files may only read them', async () => {
  const { app, owner } = await openPlace()
  const added = await owner.call('cowork_add_agent', { id: 'reader', scopes: ['read:*'] })
  const reader = createClient(app, String(added['token']))
  expect(await reader.call('create_file', { path: 'a', content: '' })).toMatchObject({
    code: 'scope_missing',
  })
  expect(await reader.call('list_files')).toMatchObject({ files: expect.any(Array) })
})

test('M5 a halt stops files too, and its entry says where they lie', async () => {
  const { app, owner, agent, workspace } = await openPlace()
  await owner.call('cowork_halt', { scope: 'domain:files', reason: 'stop' })
  expect(await agent.call('create_file', { path: 'a.txt', content: '' })).toMatchObject({
    code: 'halted',
  })
  await expect
    .poll(() => listEntries(app, '&type=call.refused'))
    .toMatchObject([
      { outcome: 'halted', subject: join(workspace, 'a.txt'), data: { area: 'workspace' } },
    ])
})

test('I5 two agents share the workspace and not their grants', async () => {
  const { app, agent, grant } = await openPlace()
  const other = await addAgent(app, 'other')
  const mine = newFolder()
  writeFileSync(join(mine, 'a.txt'), 'a')
  await grant(mine)
  await agent.call('create_file', { path: 'shared.txt', content: 'shared' })
  expect(await other.mcp.call('read_file', { path: 'shared.txt' })).toMatchObject({
    content: 'shared',
  })
  expect(await other.mcp.call('list_files', { path: mine })).toMatchObject({ code: 'no_grant' })
  const search = { query: 'a.txt', search_in: 'all' }
  expect((await other.mcp.call('search_files', search))['results']).toEqual([])
  expect((await agent.call('search_files', search))['results']).toHaveLength(1)
})
