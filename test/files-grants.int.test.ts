import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testPlace } from './cli.ts'
import { addAgent, listEntries, newFolder, openPlace } from './files.ts'
import { inTerminal } from './terminal.ts'

/** As many editors save: another file takes the name. */
function replace(file: string, content: string): void {
  writeFileSync(`${file}~`, content)
  renameSync(`${file}~`, file)
}

test('PV9 GR3 a file that was saved as a new file is readable again once a person allows it', async () => {
  const { agent, owner, grant } = await openPlace()
  const file = join(newFolder(), 'plan.txt')
  writeFileSync(file, 'one')
  await grant(file)
  const read = () => agent.call('read_file', { path: file })
  expect(await read()).toMatchObject({ content: 'one' })
  const asked = { path: file, permission: 'read', reason: 'to go on' }
  for (const [content, choice] of [
    ['two', 'file'],
    ['three', 'file_once'],
    ['four', 'folder'],
  ] as const) {
    replace(file, content)
    expect(await read()).toMatchObject({
      code: 'root_replaced',
      hint: expect.stringContaining('request_grant {"path":'),
    })
    expect(await agent.call('check_grant', { path: file })).toMatchObject({ has_access: false })
    const { status, request_id: id } = await agent.call('request_grant', asked)
    expect(status).toBe('pending')
    await owner.call('cowork_decide', {
      approval_ids: [id],
      decision: 'approve',
      hold: false,
      grant: { choice },
    })
    expect(await agent.call('request_grant', asked)).toMatchObject({ status: 'granted' })
    expect(await read()).toMatchObject({ content })
  }
})

test('K5 GR5 up and the doctor tell of grants that open nothing', async () => {
  const user = newFolder()
  const saved = join(user, 'saved.txt')
  writeFileSync(saved, 'one')
  mkdirSync(join(user, 'Work'))
  const entries = [
    { path: join(user, 'Work'), permission: 'read' },
    { path: join(user, 'none'), permission: 'read' },
    { path: '/etc', permission: 'read' },
  ]
  const place = testPlace(`grants: ${JSON.stringify(entries)}\n`)
  const up = await place.cowork(['up', '-d'])
  expect(up.stdout.split('\n').filter((line) => line.includes('Skipped'))).toEqual([
    `  Skipped the configured grant for ${join(user, 'none')}: not found. Create it or correct the path in the configuration, then restart.`,
    '  Skipped the configured grant for /etc: protected path. Remove it from the configuration.',
  ])
  await inTerminal(place, ['grants', 'add', saved], {}).ended()
  replace(saved, 'two')
  const { stdout } = await place.cowork(['doctor', '--json'])
  const { findings } = JSON.parse(stdout) as { findings: { check: string; message: string }[] }
  expect(findings.filter(({ check }) => check === 'grants').map(({ message }) => message)).toEqual([
    `Granted path was replaced: ${saved}. The grant is inactive.`,
    `The configured grant for ${join(user, 'none')} is not active: path not found.`,
    'The configured grant for /etc is not active.',
  ])
  expect((await place.cowork(['grants'])).stdout).toMatch(/inactive: path replaced.*saved\.txt/)
})

test('GR1 GR7 what a person looks at does not count as an agent using its grant', async () => {
  const { agent, owner, grant } = await openPlace()
  const file = join(newFolder(), 'plan.txt')
  writeFileSync(file, 'one')
  await grant(file)
  const uses = async () => {
    const { grants } = await owner.call('list_grants', {})
    return (grants as { path: string; access_count: number }[]).find(({ path }) => path === file)
      ?.access_count
  }
  await owner.call('read_file', { path: file })
  expect(await uses()).toBe(0)
  await agent.call('read_file', { path: file })
  await expect.poll(uses).toBe(1)
})

test('FT4 a change to a single granted file says why it has no backup', async () => {
  const { agent, grant } = await openPlace()
  const file = join(newFolder(), 'plan.txt')
  writeFileSync(file, 'one')
  await grant(file, 'read-write')
  const change = (args: object) => agent.call('update_file', { path: file, ...args })
  const changed = await change({ content: 'two' })
  expect(changed).toMatchObject({ success: true, warnings: [expect.stringContaining('backup')] })
  expect(changed).not.toHaveProperty('backup_path')
  expect(await change({ content: 'three', create_backup: false })).not.toHaveProperty('warnings')
  const { versions } = await agent.call('file_versions', { path: file })
  expect(versions).toHaveLength(2)
})

test('PV9 GR6 a file that was saved as a new file is readable under the folder’s grant and stays read-only', async () => {
  const { agent, grant } = await openPlace()
  const folder = newFolder()
  const file = join(folder, 'plan.txt')
  writeFileSync(file, 'one')
  await grant(folder, 'read-write')
  await grant(file, 'read')
  expect(await agent.call('update_file', { path: file, content: 'x' })).toMatchObject({
    code: 'read_only_grant',
  })
  replace(file, 'two')
  expect(await agent.call('read_file', { path: file })).toMatchObject({ content: 'two' })
  expect(await agent.call('update_file', { path: file, content: 'three' })).toMatchObject({
    code: 'read_only_grant',
  })
  // The other way round: a dead folder does not hide what is open in it.
  const outer = newFolder()
  const deep = join(outer, 'deep.txt')
  writeFileSync(deep, 'needle')
  await grant(outer)
  await grant(deep)
  renameSync(outer, `${outer}-old`)
  mkdirSync(outer)
  renameSync(join(`${outer}-old`, 'deep.txt'), deep)
  const query = { query: 'deep', search_in: 'granted' }
  expect(await agent.call('search_files', query)).toMatchObject({ total_count: 1 })
  expect(await agent.call('read_file', { path: deep })).toMatchObject({ content: 'needle' })
})

test('PV9 GR1 what cowork itself puts in the place of a granted file stays granted', async () => {
  const { app, agent, owner, grant } = await openPlace()
  const reader = await addAgent(app, 'reader')
  const folder = newFolder()
  const file = join(folder, 'plan.txt')
  writeFileSync(file, 'one')
  await grant(folder, 'read-write')
  const mine = { path: file, permission: 'read', agent: 'reader' }
  const { id } = await owner.call('add_grant', mine)
  const read = () => reader.mcp.call('read_file', { path: file })
  expect(await read()).toMatchObject({ content: 'one' })
  const { versions } = await changed('update_file', { content: 'two' })
  for (const [tool, args] of [
    ['update_file', { edits: [{ old: 'two', new: 'three' }] }],
    ['create_file', { content: 'four', overwrite: true }],
    ['file_restore_version', { version_id: versions[0]?.version_id }],
  ] as const)
    await changed(tool, args)
  expect(await reader.mcp.call('check_grant', { path: file })).toMatchObject({ grant_id: id })
  const moved = (await listEntries(app)).filter(({ type }) => type === 'grant.repinned')
  expect(moved).toHaveLength(4)
  expect(moved[0]).toMatchObject({
    subject: file,
    actor: { id: 'writer' },
    ids: { grant: id, call: expect.any(String) },
    data: { agent_id: 'reader', permission: 'read', from: expect.any(String) },
  })
  // The grant does not cover a file that others put there, even after an update by cowork.
  replace(file, 'theirs')
  expect(await read()).toMatchObject({ code: 'root_replaced' })
  await agent.call('update_file', { path: file, content: 'five' })
  expect(await read()).toMatchObject({ code: 'root_replaced' })

  async function changed(tool: string, args: object) {
    expect(await agent.call(tool, { path: file, ...args })).toMatchObject({ success: true })
    const { content } = await owner.call('read_file', { path: file })
    expect(await read(), tool).toMatchObject({ content: content })
    const { versions: kept } = await agent.call('file_versions', { path: file })
    return { versions: kept as { version_id: string }[] }
  }
})

test('PV9 GR6 an agent with a grant for one file can read it while another agent keeps writing it', async () => {
  const { app, agent, owner, grant } = await openPlace()
  const reader = await addAgent(app, 'reader')
  const folder = newFolder()
  const file = join(folder, 'plan.txt')
  writeFileSync(file, '0')
  await grant(folder, 'read-write')
  await owner.call('add_grant', { path: file, permission: 'read', agent: 'reader' })
  let isWriting = true
  const reading = (async () => {
    const refused: unknown[] = []
    while (isWriting) {
      const result = await reader.mcp.call('read_file', { path: file })
      if (result['isError']) refused.push(result['code'])
    }
    return refused
  })()
  for (let n = 1; n <= 20; n++)
    await agent.call('update_file', { path: file, content: `${n}`, create_backup: false })
  isWriting = false
  expect(await reading).toEqual([])
  expect(await reader.mcp.call('read_file', { path: file })).toMatchObject({ content: '20' })
})

test('GR6 a change to a file without a grant of its own does not restart the worker', async () => {
  const { app, agent, grant } = await openPlace()
  const folder = newFolder()
  writeFileSync(join(folder, 'plan.txt'), 'one')
  writeFileSync(join(folder, 'other.txt'), 'one')
  await grant(folder, 'read-write')
  await grant(join(folder, 'other.txt'), 'read')
  const path = join(folder, 'plan.txt')
  expect(await agent.call('update_file', { path, content: 'two' })).toMatchObject({ success: true })
  expect((await listEntries(app)).filter(({ type }) => type === 'grant.repinned')).toEqual([])
})

test('PV9 GR3 a request that waited while cowork changed the file opens what is there', async () => {
  const { app, agent, owner, grant } = await openPlace()
  const reader = await addAgent(app, 'reader')
  const folder = newFolder()
  const file = join(folder, 'plan.txt')
  writeFileSync(file, 'one')
  await grant(folder, 'read-write')
  const asked = { path: file, permission: 'read', reason: 'to help' }
  const { request_id: id } = await reader.mcp.call('request_grant', asked)
  for (const content of ['two', 'three'])
    await agent.call('update_file', { path: file, content, create_backup: false })
  const decision = { decision: 'approve', grant: { choice: 'file' } }
  await owner.call('cowork_decide', { approval_ids: [id], ...decision })
  expect(await reader.mcp.call('request_grant', asked)).toMatchObject({ status: 'granted' })
  expect(await reader.mcp.call('read_file', { path: file })).toMatchObject({ content: 'three' })
})

test('FT10 GR3 who was told never is not told to ask, and a person not to call a tool', async () => {
  const { agent, owner } = await openPlace()
  const file = join(newFolder(), 'plan.txt')
  writeFileSync(file, 'one')
  const asked = { path: file, permission: 'read', reason: 'to help' }
  const { request_id: id } = await agent.call('request_grant', asked)
  const never = { decision: 'reject', grant: { choice: 'deny_always' } }
  await owner.call('cowork_decide', { approval_ids: [id], ...never })
  const refused = await agent.call('read_file', { path: file })
  expect(refused).toMatchObject({ code: 'no_grant', text: expect.stringContaining('is blocked') })
  const toPerson = await owner.call('read_file', { path: file })
  expect(toPerson).toMatchObject({ code: 'no_grant', hint: expect.stringContaining(`add ${file}`) })
  for (const result of [refused, toPerson])
    expect(JSON.stringify(result)).not.toContain('request_grant')
})

test('GR3 GR6 what a person chooses opens what was asked for, though the file had a grant of its own', async () => {
  const { agent, owner } = await openPlace()
  const folder = newFolder()
  const path = join(folder, 'plan.txt')
  writeFileSync(path, 'one')
  const ask = (permission: string) =>
    agent.call('request_grant', { path, permission, reason: 'to help' })
  for (const [permission, choice] of [
    ['read', 'file'],
    ['read-write', 'folder_write'],
  ] as const) {
    const { request_id: id } = await ask(permission)
    const grant = { choice }
    await owner.call('cowork_decide', { approval_ids: [id], decision: 'approve', grant })
    expect(await ask(permission)).toMatchObject({ status: 'granted', permission })
  }
  expect(await agent.call('update_file', { path, content: 'two' })).toMatchObject({ success: true })
})

test('GR3 PV1 a link that leads out of a grant is asked about, and what is allowed then can be read', async () => {
  const { agent, owner, grant } = await openPlace()
  const [folder, other] = [newFolder(), newFolder()]
  writeFileSync(join(other, 'x.txt'), 'beyond')
  const path = join(folder, 'out')
  symlinkSync(join(other, 'x.txt'), path)
  await grant(folder, 'read-write')
  expect(await agent.call('read_file', { path })).toMatchObject({ code: 'path_escape' })
  const asked = { path, permission: 'read', reason: 'to help' }
  const { status, request_id: id } = await agent.call('request_grant', asked)
  expect(status).toBe('pending')
  const file = { decision: 'approve', grant: { choice: 'file' } }
  await owner.call('cowork_decide', { approval_ids: [id], ...file })
  const { granted_path: real } = await agent.call('request_grant', asked)
  expect(await agent.call('read_file', { path: real })).toMatchObject({ content: 'beyond' })
})

test('GR1 I4 an agent that is added under the name of a revoked one has none of its grants', async () => {
  const { app, owner, agent, grant } = await openPlace()
  const path = join(newFolder(), 'plan.txt')
  writeFileSync(path, 'one')
  const { id } = await grant(path)
  expect(await agent.call('read_file', { path })).toMatchObject({ content: 'one' })
  await owner.call('cowork_revoke_agent', { id: 'writer' })
  const again = (await addAgent(app, 'writer')).mcp
  expect(await again.call('read_file', { path })).toMatchObject({ code: 'no_grant' })
  const ended = (await listEntries(app)).filter(({ type }) => type === 'grant.revoked')
  expect(ended).toMatchObject([
    { actor: { kind: 'human' }, ids: { grant: id }, data: { reason: 'agent_revoked' } },
  ])
})
