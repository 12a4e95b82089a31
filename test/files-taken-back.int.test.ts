import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addAgent, newFolder, openPlace } from './files.ts'

type Listed = { version_id: string; size_bytes: number }
type Speaker = { call(tool: string, args?: object): Promise<Record<string, unknown>> }

const versionsOf = async (by: Speaker, path: string) =>
  (await by.call('file_versions', { path }))['versions'] as Listed[]

test('PV5 F5 what was deleted under a name that asks comes back under no other without a look', async () => {
  const { agent, owner, workspace } = await openPlace({
    'security.sensitive_patterns': ['**/secret*', '**/private/**'],
  })
  const put = (path: string, content = 'x') => {
    mkdirSync(join(workspace, path, '..'), { recursive: true })
    writeFileSync(join(workspace, path), content)
  }
  put('secret.txt', 'PASSWORD=hunter2')
  put('private/a.txt')
  put('p/.git/config')
  for (const [path, plain] of [
    ['secret.txt', 'plain.txt'],
    ['private', 'open'],
    ['private/a.txt', 'a.txt'],
    ['p/.git', 'p/git'],
  ] as const) {
    const { trash_id } = await agent.call('delete_file', { path })
    const restore = (by: Speaker, destination?: string) =>
      by.call('trash_restore', { trash_id, ...(destination && { destination }) })
    for (const destination of [plain, undefined])
      expect(await restore(agent, destination), path).toMatchObject({
        code: 'forbidden_path',
        hint: expect.stringContaining('destination'),
      })
    expect(existsSync(join(workspace, plain))).toBe(false)
    expect(await restore(agent, path), path).toMatchObject({ code: 'approval_required' })
    expect(await restore(owner, plain), path).toMatchObject({ success: true })
    if (path !== 'secret.txt') await owner.call('move_file', { source: plain, destination: path })
  }
  // The approval of a restore does not show that the file was a secret.
  put('secret2.txt')
  const { trash_id } = await agent.call('delete_file', { path: 'secret2.txt' })
  const restore = { trash_id, destination: '.vscode/tasks.json' }
  const { approval_id } = await agent.call('trash_restore', restore)
  await owner.call('cowork_decide', { approval_ids: [approval_id], decision: 'approve' })
  expect(await agent.call('trash_restore', restore)).toMatchObject({ code: 'forbidden_path' })
})

test('F5 TR3 a change to a file that may not be made is undone, and a deleted one comes back to where it was', async () => {
  const { agent, owner, workspace, grant } = await openPlace()
  const mine = newFolder()
  await grant(mine, 'read-write')
  for (const folder of [mine, workspace]) {
    const path = join(folder, 'run.sh')
    for (const by of [agent, owner]) {
      writeFileSync(path, 'one')
      await agent.call('update_file', { path, content: 'two', create_backup: false })
      const [version] = await versionsOf(agent, path)
      const undo = { path, version_id: version?.version_id }
      expect(await by.call('file_restore_version', undo)).toMatchObject({ success: true })
      expect(readFileSync(path, 'utf8')).toBe('one')
      rmSync(path)
      expect(await by.call('file_restore_version', undo)).toMatchObject({
        code: 'forbidden_extension',
      })
    }
  }
  for (const [by, destination] of [
    [agent, undefined],
    [agent, 'tool.sh'],
    [owner, undefined],
  ] as const) {
    writeFileSync(join(workspace, 'tool.sh'), 'run')
    chmodSync(join(workspace, 'tool.sh'), 0o755)
    const { trash_id } = await agent.call('delete_file', { path: 'tool.sh' })
    for (const other of ['other.sh', 'Documents/tool.sh'])
      expect(await by.call('trash_restore', { trash_id, destination: other })).toMatchObject({
        code: 'forbidden_extension',
      })
    expect(
      await by.call('trash_restore', { trash_id, ...(destination && { destination }) }),
    ).toMatchObject({ success: true })
    expect(statSync(join(workspace, 'tool.sh')).mode & 0o777).toBe(0o644)
  }
})

test('GR1 PV9 outside the workspace an agent knows the versions since its grant, and its own', async () => {
  const { app, agent, owner, workspace, grant } = await openPlace()
  const reader = (await addAgent(app, 'reader')).mcp
  const folder = newFolder()
  const path = join(folder, 'f.txt')
  await grant(folder, 'read-write')
  await agent.call('create_file', { path, content: 'SECRET OF THE WRITER' })
  const update = (content: string) =>
    agent.call('update_file', { path, content, create_backup: false })
  await update('two')
  rmSync(path)
  writeFileSync(path, 'of a person')
  const mine = { path, permission: 'read-write', agent: 'reader' }
  await owner.call('add_grant', mine)
  const [old] = await versionsOf(agent, path)
  expect(await versionsOf(reader, path)).toEqual([])
  const codes = async () => [
    (await reader.call('file_diff', { path }))['code'],
    (await reader.call('file_diff', { path, version_id: old?.version_id }))['code'],
    (await reader.call('file_restore_version', { path, version_id: old?.version_id }))['code'],
  ]
  expect(await codes()).toEqual(['not_found', 'not_found', 'not_found'])
  // The agent may see a version that it could have read.
  await update('three')
  expect(await versionsOf(reader, path)).toMatchObject([{ size_bytes: 11 }])
  expect((await reader.call('file_diff', { path }))['diff']).toContain('-of a person')
  expect((await codes()).slice(1)).toEqual(['not_found', 'not_found'])
  expect(await versionsOf(agent, path)).toHaveLength(2)
  expect(await versionsOf(owner, path)).toHaveLength(2)
  // Its own change stays its own under another grant.
  await reader.call('update_file', { path, content: 'four', create_backup: false })
  const { grants } = await reader.call('list_grants')
  for (const { id } of grants as { id: string }[])
    await owner.call('revoke_grant', { grant_id: id })
  await owner.call('add_grant', mine)
  expect(await versionsOf(reader, path)).toMatchObject([{ size_bytes: 5 }])
  // The workspace is everybody's.
  await agent.call('create_file', { path: 'w.txt', content: 'one' })
  await agent.call('update_file', { path: 'w.txt', content: 'two' })
  expect(await versionsOf(reader, join(workspace, 'w.txt'))).toHaveLength(1)
})

test('TR1 what is purged twice in one call is purged once', async () => {
  const { agent, owner } = await openPlace()
  await agent.call('create_file', { path: 'a.txt', content: 'x' })
  const { trash_id: id } = await agent.call('delete_file', { path: 'a.txt' })
  expect(await owner.call('trash_purge', { trash_ids: [id, id] })).toEqual({
    purged: [id],
    count: 1,
  })
})

test('TR3 PV3 the owner takes back what was done to a file with two names, and hears how to open one', async () => {
  const { agent, owner, grant } = await openPlace()
  const folder = newFolder()
  const path = join(folder, 'f.txt')
  writeFileSync(path, 'one')
  linkSync(path, join(folder, 'second.txt'))
  const { id } = await grant(path, 'read-write', { hard_links: true })
  const change = { path, content: 'two', create_backup: false }
  expect(await agent.call('update_file', change)).toMatchObject({ success: true })
  await owner.call('revoke_grant', { grant_id: id })
  const [version] = await versionsOf(owner, path)
  expect(await owner.call('file_diff', { path })).toHaveProperty('diff')
  const back = { path, version_id: version?.version_id }
  expect(await owner.call('file_restore_version', back)).toMatchObject({ success: true })
  expect(readFileSync(join(folder, 'second.txt'), 'utf8')).toBe('one')
  await grant(path, 'read-write')
  expect(await owner.call('read_file', { path })).toMatchObject({
    code: 'hard_link',
    hint: expect.stringContaining(`cowork grants add ${path} --hard-links --until`),
  })
  await owner.call('add_grant', {
    path,
    permission: 'read',
    agent: 'writer',
    hard_links: true,
    expires_at: new Date(Date.now() + 600_000).toISOString(),
  })
  for (const by of [owner, agent])
    expect(await by.call('read_file', { path })).toMatchObject({ content: 'one' })
})
