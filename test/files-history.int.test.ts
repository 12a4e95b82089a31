import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startTestApp } from './app.ts'
import { listEntries, newFolder, openPlace } from './files.ts'
import type { Place } from './files.ts'

type Listed = { version_id: string; size_bytes: number }

const versionsOf = async ({ agent }: Place, path: string) =>
  (await agent.call('file_versions', { path }))['versions'] as Listed[]

/** A file with one earlier content. */
async function changed({ agent }: Place, path: string, before: string, now = 'now') {
  await agent.call('create_file', { path, content: before })
  await agent.call('update_file', { path, content: now, create_backup: false })
}

test('FT9 a file that is moved to where another was does not get the versions of that one', async () => {
  const place = await openPlace()
  const { agent } = place
  await changed(place, 'b.txt', 'of b')
  const { trash_id: id } = await agent.call('delete_file', { path: 'b.txt' })
  await agent.call('create_file', { path: 'a.txt', content: 'a' })
  await agent.call('move_file', { source: 'a.txt', destination: 'b.txt' })
  expect(await versionsOf(place, 'b.txt')).toEqual([])
  // They wait with the one they are of.
  await agent.call('trash_restore', { trash_id: id, destination: 'back/b.txt' })
  const [version] = await versionsOf(place, 'back/b.txt')
  expect(version).toMatchObject({ size_bytes: 4 })
  const restore = { path: 'back/b.txt', version_id: version?.version_id }
  expect(await agent.call('file_restore_version', restore)).toMatchObject({ success: true })
  expect(readFileSync(join(place.workspace, 'back/b.txt'), 'utf8')).toBe('of b')
})

test('FT9 F6 a folder that is restored elsewhere brings its versions, and who made its files is known', async () => {
  const place = await openPlace()
  const { agent, owner, workspace } = place
  await changed(place, 'd/x.txt', 'before')
  const { trash_id: id } = await agent.call('delete_file', { path: 'd' })
  await owner.call('trash_restore', { trash_id: id, destination: 'e' })
  expect(await versionsOf(place, 'e/x.txt')).toHaveLength(1)
  await place.app.close()
  const index = JSON.parse(readFileSync(join(workspace, '.cowork', 'index.json'), 'utf8')) as {
    files: unknown[]
  }
  expect(index.files).toContainEqual(
    expect.objectContaining({ path: 'e/x.txt', made_by: 'writer' }),
  )
})

test('FT9 what is changed over a link is known by its own path, and by every other', async () => {
  const place = await openPlace()
  const { agent, workspace, grant } = place
  const mine = newFolder()
  for (const folder of [workspace, mine]) {
    mkdirSync(join(folder, 'real'))
    symlinkSync('real', join(folder, 'alias'))
    writeFileSync(join(folder, 'real', 'x.txt'), 'one')
    symlinkSync('real/x.txt', join(folder, 'x.txt'))
  }
  await grant(mine, 'read-write')
  for (const folder of [workspace, mine]) {
    const real = join(folder, 'real', 'x.txt')
    const over = (name: string) => join(folder, name)
    expect(
      await agent.call('update_file', { path: over('alias/x.txt'), content: 'two' }),
    ).toMatchObject({ path: real, backup_path: `${real}.bak` })
    await agent.call('create_file', { path: over('x.txt'), content: 'three', overwrite: true })
    for (const path of [real, over('alias/x.txt'), over('x.txt')])
      expect(await versionsOf(place, path), path).toHaveLength(2)
    const [newest] = await versionsOf(place, real)
    await agent.call('file_restore_version', {
      path: over('alias/x.txt'),
      version_id: newest?.version_id,
    })
    expect(await versionsOf(place, real)).toHaveLength(3)
    await agent.call('move_file', {
      source: over('alias/x.txt'),
      destination: over('alias/y.txt'),
    })
    expect(await versionsOf(place, over('real/y.txt'))).toHaveLength(3)
  }
})

test('TR4 versions are within their number at once, and what no version has named for long goes at a start', async () => {
  const state = mkdtempSync(join(tmpdir(), 'cowork-history-'))
  const few = { 'versions.max_per_file': 2 }
  const place = await openPlace(few, { state })
  for (let n = 0; n < 6; n++)
    await place.agent.call('create_file', { path: 'v.txt', content: `c${n}`, overwrite: true })
  await place.app.close()
  const folder = join(state, 'versions')
  mkdirSync(join(folder, 'ab'), { recursive: true })
  writeFileSync(join(folder, 'ab', '0'.repeat(62)), 'orphan')
  const contents = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  // For as long as a version is kept it may be wanted; that is over now.
  for (const { parentPath, name } of contents()) utimesSync(join(parentPath, name), 1, 1)
  const app = await startTestApp(few, { state })
  onTestFinished(() => app.close())
  await expect.poll(() => contents().length).toBe(2)
  // The rows had gone with the calls.
  expect(await listEntries(app, '&type=versions.dropped')).toMatchObject([
    { data: { versions: 0, contents: 4 } },
  ])
})

test('FT7 files in temp/ are counted however many folders there are beside it', async () => {
  const { agent, workspace } = await openPlace({ 'workspace.structure': ['temp'] })
  writeFileSync(join(workspace, 'temp', 't'), '')
  for (let n = 0; n < 1001; n++) {
    mkdirSync(join(workspace, `f${n}`))
    writeFileSync(join(workspace, `f${n}`, 'x'), 'more than nothing')
  }
  expect(await agent.call('get_workspace_info')).toMatchObject({
    temp_files: 1,
    total_files: 1002,
  })
})
