import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addAgent, newFolder, openPlace } from './files.ts'

function folderWith(name: string) {
  const folder = newFolder()
  const file = join(folder, name)
  writeFileSync(file, 'one\n')
  return { folder, file }
}

const allow = { decision: 'approve', hold: false }

test('GR6 GR2 FT6 PV9 while one agent saves a file over and over, what is granted of it to others counts as ever', async () => {
  const { app, agent, owner, grant } = await openPlace()
  const { folder, file } = folderWith('f.txt')
  const other = (await addAgent(app, 'reader')).mcp
  await grant(folder, 'read-write')
  for (const [path, permission] of [
    [newFolder(), 'read'],
    [folder, 'read'],
    [file, 'read-write'],
  ])
    await owner.call('add_grant', { path, permission, agent: 'reader' })
  let isOver = false
  const repeat = async (act: (round: number) => Promise<void>) => {
    for (let round = 0; !isOver; round++) await act(round)
  }
  const update = (content: string) => ({ path: file, content, create_backup: false })
  await Promise.all([
    (async () => {
      for (let round = 0; round < 30; round++)
        expect(await agent.call('update_file', update(`${round}\n`))).not.toHaveProperty('code')
      isOver = true
    })(),
    repeat(async (round) =>
      expect(await other.call('update_file', update(`other ${round}\n`))).not.toHaveProperty(
        'code',
      ),
    ),
    repeat(async () =>
      expect(await other.call('check_grant', { path: file })).toMatchObject({
        permission: 'read-write',
      }),
    ),
    repeat(async () => {
      const asked = { path: file, permission: 'read-write', reason: 'to help' }
      expect(await other.call('request_grant', asked)).toMatchObject({ status: 'granted' })
      expect((await other.call('list_grants')).text).not.toContain('request access again')
    }),
    repeat(async () =>
      expect(
        await other.call('search_files', { query: 'f.txt', search_in: 'granted' }),
      ).toMatchObject({ total_count: 1 }),
    ),
  ])
})

test('GR3 FT6 what a person has just allowed is searched and listed', async () => {
  const { owner, agent } = await openPlace()
  const { folder, file } = folderWith('needle.txt')
  const asked = { path: folder, permission: 'read', reason: 'to help' }
  const { request_id: id } = await agent.call('request_grant', asked)
  const grant = { choice: 'folder' }
  await owner.call('cowork_decide', { approval_ids: [id], ...allow, grant })
  const [found, listed] = await Promise.all([
    agent.call('search_files', { query: 'needle', search_in: 'granted' }),
    agent.call('list_grants'),
  ])
  expect(found).toMatchObject({ total_count: 1, results: [{ path: file }] })
  expect(listed.text).toContain(folder)
})

test('FT6 PV9 where the grant of one agent is stale, a person still finds the file through the grant of another', async () => {
  const { app, owner, grant } = await openPlace()
  const { file } = folderWith('needle.txt')
  const other = (await addAgent(app, 'reader')).mcp
  await grant(file)
  writeFileSync(`${file}~`, 'two\n')
  renameSync(`${file}~`, file)
  const asked = { path: file, permission: 'read', reason: 'to help' }
  const { request_id: id } = await other.call('request_grant', asked)
  await owner.call('cowork_decide', {
    approval_ids: [id],
    ...allow,
    grant: { choice: 'file' },
  })
  expect(await owner.call('search_files', { query: 'needle', search_in: 'granted' })).toMatchObject(
    { total_count: 1 },
  )
})
