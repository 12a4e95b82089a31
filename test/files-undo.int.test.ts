import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listEntries, newFolder, openPlace } from './files.ts'
import { createSpeakers } from './speakers.ts'

/** A file that an agent changed under a grant that is revoked by now. */
async function changedAndRevoked() {
  const place = await openPlace()
  const { agent, owner, grant } = place
  const folder = newFolder()
  const path = join(folder, 'plan.txt')
  writeFileSync(path, 'mine\n')
  const { id } = await grant(folder, 'read-write')
  await agent.call('update_file', { path, content: 'theirs\n' })
  await owner.call('revoke_grant', { grant_id: id })
  const { versions } = await owner.call('file_versions', { path })
  const [version] = versions as { version_id: string }[]
  return { ...place, folder, path, version_id: version?.version_id }
}

test('TR3 GR4 who revokes can still see what was changed, and take it back', async () => {
  const { app, agent, owner, path, version_id } = await changedAndRevoked()
  expect(version_id).toEqual(expect.any(String))
  const { diff } = await owner.call('file_diff', { path })
  expect(diff).toContain('-mine\n+theirs')
  expect(await owner.call('file_restore_version', { path, version_id })).toMatchObject({
    success: true,
    path,
  })
  expect(readFileSync(path, 'utf8')).toBe('mine\n')
  expect(await owner.call('list_grants')).toMatchObject({ grants: [] })
  expect(await agent.call('read_file', { path })).toMatchObject({ code: 'no_grant' })
  // Made for that person and that one file, and gone with the call.
  const mine = (await listEntries(app)).filter(({ data }) => data?.['person'] === 'owner')
  const once = (permission: string) => [
    { type: 'grant.made', subject: path, data: { permission, kind: 'file', scope: 'session' } },
    { type: 'grant.revoked', subject: path, data: { permission, reason: 'done' } },
  ]
  expect(mine).toMatchObject([...once('read'), ...once('read-write')])
  const calls = new Set(mine.map(({ ids }) => ids?.['call']))
  expect(calls.size).toBe(2)
})

test('TR3 what an editor saved over an agent’s change is taken back, too', async () => {
  const { owner, path, grant, version_id } = await changedAndRevoked()
  await grant(path, 'read')
  writeFileSync(`${path}~`, 'by hand\n')
  renameSync(`${path}~`, path)
  expect(await owner.call('file_versions', { path })).toMatchObject({ versions: [{ version_id }] })
  expect(await owner.call('file_restore_version', { path, version_id })).toMatchObject({
    success: true,
  })
  expect(readFileSync(path, 'utf8')).toBe('mine\n')
})

test('TR3 GR6 by a link it is the same file', async () => {
  const { owner, folder, path, version_id } = await changedAndRevoked()
  const link = join(newFolder(), 'shortcut')
  symlinkSync(folder, link)
  const over = join(link, 'plan.txt')
  expect(await owner.call('file_versions', { path: over })).toMatchObject({ path })
  expect(await owner.call('file_restore_version', { path: over, version_id })).toMatchObject({
    success: true,
  })
  expect(readFileSync(path, 'utf8')).toBe('mine\n')
})

test('TR3 GR6 agents and people who are not the owner see nothing without a grant', async () => {
  const { app, agent, path, version_id } = await changedAndRevoked()
  const { reviewer: rita } = await createSpeakers(app)
  for (const [tool, args] of [
    ['file_versions', { path }],
    ['file_diff', { path }],
    ['file_restore_version', { path, version_id }],
  ] as const) {
    expect(await agent.call(tool, args), tool).toMatchObject({ code: 'no_grant' })
    const result = await rita.call(tool, args)
    expect(result, tool).toMatchObject({ code: 'no_grant' })
    expect(JSON.stringify(result)).not.toContain('request_grant')
  }
  expect(readFileSync(path, 'utf8')).toBe('theirs\n')
})

test('TR3 what cannot be put back says what to do', async () => {
  const { owner, folder, path, version_id } = await changedAndRevoked()
  rmSync(path)
  expect(await owner.call('file_versions', { path })).toMatchObject({ versions: [{ version_id }] })
  expect(await owner.call('file_restore_version', { path, version_id })).toMatchObject({
    code: 'no_grant',
    hint: expect.stringContaining(
      `cowork grants add ${folder} --permission read-write --until 10m`,
    ),
  })
  expect(await owner.call('file_versions', { path: '/etc/passwd' })).toMatchObject({
    code: 'forbidden_path',
  })
})
