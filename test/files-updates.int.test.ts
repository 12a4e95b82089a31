import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listEntries, newFolder, openPlace } from './files.ts'
import { createClient } from './speakers.ts'

test('FT4 a dry run with content shows what the update then does, and is refused where that is', async () => {
  const { agent, workspace } = await openPlace()
  const at = join(workspace, 'crlf.txt')
  writeFileSync(at, 'one\r\ntwo\r\n')
  const update = (more: object) => agent.call('update_file', { path: 'crlf.txt', ...more })
  const dry = await update({ content: 'one\nthree\n', dry_run: true })
  expect(dry['diff']).toContain('@@ -1,2 +1,2 @@\n one\r\n-two\r\n+three\r')
  const stale = { content: 'x', expected_sha256: 'f'.repeat(64) }
  expect(await update({ ...stale, dry_run: true })).toMatchObject({ code: 'stale' })
  expect(readFileSync(at, 'utf8')).toBe('one\r\ntwo\r\n')
  expect(await update({ content: 'one\nthree\n', create_backup: false })).toMatchObject({
    diff: dry['diff'],
  })
  expect(readFileSync(at, 'utf8')).toBe('one\r\nthree\r\n')
})

test('FT4 an update to what is there already is told so, and leaves no version and no backup', async () => {
  const { agent, workspace } = await openPlace()
  await agent.call('create_file', { path: 'a.txt', content: 'same\n' })
  for (const change of [{ content: 'same\n' }, { edits: [{ old: 'same', new: 'same' }] }])
    expect(await agent.call('update_file', { path: 'a.txt', ...change })).toMatchObject({
      success: true,
      diff: '',
      text: `No change: ${join(workspace, 'a.txt')} already has that content.`,
    })
  expect((await agent.call('file_versions', { path: 'a.txt' }))['versions']).toEqual([])
  expect(existsSync(join(workspace, 'a.txt.bak'))).toBe(false)
})

test('FT4 a change too large to be shown is made, told and kept as a version', async () => {
  const { agent, workspace } = await openPlace()
  const at = join(workspace, 'one.json')
  writeFileSync(at, `"${'x'.repeat(36 * 1024 ** 2)}END"`)
  const update = (more: object) =>
    agent.call('update_file', { path: 'one.json', create_backup: false, ...more })
  const edits = [{ old: 'END', new: 'FIN' }]
  for (const dry_run of [true, false])
    expect(await update({ edits, dry_run })).toMatchObject({
      success: true,
      diff: '[changed; diff hidden]',
    })
  expect(readFileSync(at).subarray(-4).toString()).toBe('FIN"')
  expect((await agent.call('file_versions', { path: 'one.json' }))['versions']).toHaveLength(1)

  writeFileSync(join(workspace, 'c1'), '\u0001'.repeat(3 * 1024 ** 2))
  writeFileSync(join(workspace, 'c2'), '\u0002'.repeat(3 * 1024 ** 2))
  const { diff } = await agent.call('file_diff', { path: 'c1', with: 'c2' })
  expect(diff).toBe('--- c1\n+++ c2\n@@ -1,1 +1,1 @@\n[diff truncated]')
})

test('PV5 a diff shows nothing of a file that may hold secrets, and a dry run asks nobody', async () => {
  const { agent, workspace } = await openPlace()
  writeFileSync(join(workspace, 'server.pem'), 'KEY\n')
  writeFileSync(join(workspace, 'a.txt'), 'plain\n')
  const secrets = [expect.stringContaining('Sensitive file')]
  for (const pair of [
    { path: 'server.pem', with: 'a.txt' },
    { path: 'a.txt', with: 'server.pem' },
  ]) {
    const compared = await agent.call('file_diff', pair)
    expect(compared).toMatchObject({ isError: false, warnings: secrets })
    expect(JSON.stringify(compared)).not.toContain('KEY')
  }
  const change = { path: 'server.pem', edits: [{ old: 'KEY', new: 'mine' }] }
  const dry = await agent.call('update_file', { ...change, dry_run: true })
  expect(dry).toMatchObject({ success: true, warnings: secrets })
  expect(JSON.stringify(dry)).not.toMatch(/KEY|mine/)
  expect(await agent.call('update_file', change)).toMatchObject({ code: 'approval_required' })
  expect(readFileSync(join(workspace, 'server.pem'), 'utf8')).toBe('KEY\n')
})

test('FT1 invalid base64 or the path of a folder is refused and leaves no file', async () => {
  const { agent, workspace } = await openPlace()
  const before = readdirSync(workspace)
  const create = (path: string, content: string, encoding: string) =>
    agent.call('create_file', { path, content, encoding })
  for (const content of ['A', 'QUJDR', 'QQ=', 'Q===', 'Q!==', '='])
    expect(await create('new/a.bin', content, 'base64'), content).toMatchObject({
      code: 'invalid_input',
    })
  expect(await create('new/folder/', 'x', 'utf-8')).toMatchObject({ code: 'invalid_path' })
  expect(await create('new/a.txt', '漢', 'windows-1252')).toMatchObject({ code: 'not_text' })
  writeFileSync(join(workspace, 'a.txt'), 'a')
  expect(await agent.call('move_file', { source: 'no', destination: 'new/b' })).toMatchObject({
    code: 'not_found',
  })
  expect(readdirSync(workspace)).toEqual([...before, 'a.txt'].toSorted())
  for (const [content, bytes] of [
    ['QUJD\nRA==\n', 'ABCD'],
    ['QUJDRA', 'ABCD'],
    ['', ''],
  ] as const) {
    await agent.call('create_file', { path: 'b', content, encoding: 'base64', overwrite: true })
    expect(readFileSync(join(workspace, 'b'), 'utf8')).toBe(bytes)
  }
})

test('FT4 the diff of a granted file names it', async () => {
  const { agent, grant } = await openPlace()
  const path = join(newFolder(), 'report.txt')
  writeFileSync(path, 'one\n')
  await grant(path, 'read-write')
  const { diff } = await agent.call('update_file', { path, content: 'two\n' })
  expect(diff).toContain('--- report.txt\n+++ report.txt\n')
})

test('FT8 of bytes that come as base64 the ledger has their own size and hash, from the start on', async () => {
  const { app, agent } = await openPlace()
  const bytes = Buffer.from([0, 1, 2, 3, 255])
  const content = bytes.toString('base64')
  await agent.call('create_file', { path: 'a.bin', content, encoding: 'base64' })
  const started = await listEntries(app, '&tool=create_file&type=call.started')
  const { body } = await createClient(app, app.owner).ask(`/api/ledger/${started[0]?.seq}`)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  expect(body['payload']).toMatchObject({ content: { bytes: 5, sha256 } })
  expect(await listEntries(app, '&tool=create_file&type=call.done')).toMatchObject([
    { data: { size_bytes: 5, sha256 } },
  ])
})

test('FT4 a hash that is spelt in capitals is the same hash', async () => {
  const { agent } = await openPlace()
  await agent.call('create_file', { path: 'a.txt', content: 'one' })
  const expected_sha256 = createHash('sha256').update('one').digest('hex').toUpperCase()
  for (const change of [{ edits: [{ old: 'one', new: 'two' }], dry_run: true }, { content: 'two' }])
    expect(
      await agent.call('update_file', { path: 'a.txt', ...change, expected_sha256 }),
    ).toMatchObject({ success: true })
})
