// Which earlier contents an agent may see outside the workspace: those it could have read, and its own.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addAgent, newFolder, openPlace } from './files.ts'

type Listed = { version_id: string; size_bytes: number }
type Speaker = { call(tool: string, args?: object): Promise<Record<string, unknown>> }

const versionsOf = async (by: Speaker, path: string) =>
  (await by.call('file_versions', { path }))['versions'] as Listed[]

/** Two folders in one, and a file in the first that nobody else than the writer may read. */
async function openFolders() {
  const place = await openPlace()
  const top = newFolder()
  const [priv, pub] = [join(top, 'priv'), join(top, 'pub')]
  for (const folder of [priv, pub]) mkdirSync(folder)
  writeFileSync(join(priv, 'f.txt'), 'SECRET')
  const { agent, app, owner } = place
  const reader = (await addAgent(app, 'reader')).mcp
  const give = (path: string, permission = 'read', id = 'reader') =>
    owner.call('add_grant', { path, permission, agent: id })
  await place.grant(top, 'read-write')
  const update = (path: string, content: string) =>
    agent.call('update_file', { path, content, create_backup: false })
  const move = (source: string, destination: string) =>
    agent.call('move_file', { source, destination })
  return { ...place, reader, give, update, move, top, priv, pub }
}

test('GR1 GR6 a version that was replaced where an agent may not read is not there for it, wherever it goes', async () => {
  const { agent, reader, owner, give, update, move, top, priv, pub } = await openFolders()
  await give(pub, 'read-write')
  await update(join(priv, 'f.txt'), 'clean')
  await move(join(priv, 'f.txt'), join(pub, 'f.txt'))
  const path = join(pub, 'f.txt')
  const [secret] = await versionsOf(owner, path)
  const version_id = secret?.version_id
  expect(await versionsOf(reader, path)).toEqual([])
  for (const [tool, args] of [
    ['file_diff', { path }],
    ['file_diff', { path, version_id }],
    ['file_restore_version', { path, version_id }],
  ] as const)
    expect((await reader.call(tool, args))['code'], tool).toBe('not_found')
  expect(await versionsOf(agent, path)).toMatchObject([{ size_bytes: 6 }])
  // Versions replaced from now on were readable for the agent.
  await update(path, 'three')
  expect(await versionsOf(reader, path)).toMatchObject([{ size_bytes: 5 }])
  // A grant for where the first lay does not reach back.
  await give(top)
  expect(await versionsOf(reader, path)).toMatchObject([{ size_bytes: 5 }])
})

test('GR1 TR1 what was replaced in the workspace is everybody’s, also where it comes back elsewhere', async () => {
  const { agent, reader, give, update, pub } = await openFolders()
  await agent.call('create_file', { path: 'w.txt', content: 'one' })
  await update('w.txt', 'two')
  const { trash_id } = await agent.call('delete_file', { path: 'w.txt' })
  await agent.call('trash_restore', { trash_id, destination: join(pub, 'w.txt') })
  await give(pub)
  expect(await versionsOf(reader, join(pub, 'w.txt'))).toMatchObject([{ size_bytes: 3 }])
})

test('GR1 TR3 a version goes along for an agent that could read it at both places', async () => {
  const { reader, give, update, move, top, priv, pub } = await openFolders()
  await give(top)
  await update(join(priv, 'f.txt'), 'clean')
  await move(join(priv, 'f.txt'), join(pub, 'f.txt'))
  expect(await versionsOf(reader, join(pub, 'f.txt'))).toMatchObject([{ size_bytes: 6 }])
  expect((await reader.call('file_diff', { path: join(pub, 'f.txt') }))['diff']).toContain(
    '-SECRET',
  )
  // Closed where it lay, it is not there any more.
  await give(priv, 'write')
  expect(await versionsOf(reader, join(pub, 'f.txt'))).toEqual([])
})

test('GR1 PV9 a grant whose file is gone tells of nothing that lay there', async () => {
  const { reader, give, update, move, priv, pub } = await openFolders()
  await give(pub)
  await give(join(priv, 'f.txt'))
  await update(join(priv, 'f.txt'), 'clean')
  expect(await versionsOf(reader, join(priv, 'f.txt'))).toHaveLength(1)
  await move(join(priv, 'f.txt'), join(pub, 'f.txt'))
  writeFileSync(join(priv, 'f.txt'), 'another')
  expect(await versionsOf(reader, join(pub, 'f.txt'))).toEqual([])
})

test.each(['deny', 'write'])(
  'GR1 GR6 what was replaced while a path was closed to an agent stays unknown to it when that ends: %s',
  async (how) => {
    const { reader, owner, give, update, top, priv } = await openFolders()
    const path = join(priv, 'f.txt')
    await give(top)
    await update(path, 'could be read')
    expect(await versionsOf(reader, path)).toHaveLength(1)
    const reopen = await closed(how)
    await update(path, 'the salary is 4711')
    await update(path, 'clean')
    expect((await reader.call('file_versions', { path }))['code']).toBe('no_grant')
    await reopen()
    expect(await versionsOf(reader, path)).toEqual([])
    expect((await reader.call('file_diff', { path }))['code']).toBe('not_found')
    // The content at the time of the new grant was readable.
    await update(path, 'open to all')
    expect(await versionsOf(reader, path)).toMatchObject([{ size_bytes: 5 }])

    async function closed(by: string): Promise<() => Promise<unknown>> {
      if (by === 'write') {
        await give(priv, 'write')
        return () => give(priv)
      }
      const asked = await reader.call('request_grant', {
        path: priv,
        permission: 'read-write',
        reason: 'to write',
      })
      await owner.call('cowork_decide', {
        approval_ids: [asked['request_id']],
        decision: 'reject',
        hold: false,
        grant: { choice: 'deny_always' },
      })
      const { grants } = await owner.call('list_grants')
      const listed = grants as { id: string; permission: string }[]
      const denial = listed.find(({ permission }) => permission === 'deny')
      return () => owner.call('revoke_grant', { grant_id: denial?.id })
    }
  },
)

test('GR6 with more access an agent knows no fewer versions', async () => {
  const { reader, give, update, priv } = await openFolders()
  const path = join(priv, 'f.txt')
  await give(priv)
  await update(path, 'clean')
  expect(await versionsOf(reader, path)).toHaveLength(1)
  await give(path, 'read-write')
  expect(await versionsOf(reader, path)).toHaveLength(1)
})

test('I4 GR1 an agent under the name of one that was revoked does not know what that one changed', async () => {
  const { app, owner, grant, update, top, priv } = await openFolders()
  const path = join(priv, 'f.txt')
  await update(path, 'clean')
  await owner.call('cowork_revoke_agent', { id: 'writer' })
  const next = (await addAgent(app, 'writer')).mcp
  await grant(top, 'read-write')
  expect(await versionsOf(next, path)).toEqual([])
  await next.call('update_file', { path, content: 'of the next', create_backup: false })
  // Its own it knows, also under a grant that came after.
  const { grants } = await owner.call('list_grants')
  for (const { id } of grants as { id: string }[])
    await owner.call('revoke_grant', { grant_id: id })
  await grant(top, 'read-write')
  expect(await versionsOf(next, path)).toMatchObject([{ size_bytes: 5 }])
})
