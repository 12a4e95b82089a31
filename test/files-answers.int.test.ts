// The texts that file tools return to a model, and the arguments that they accept.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildDocx, paragraph, buildPdf } from './documents.ts'
import { listEntries, newFolder, openPlace } from './files.ts'

const pngStart = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const picture = (bytes: number) => Buffer.concat([pngStart, Buffer.alloc(bytes - pngStart.length)])

test('F4 an agent gets no answer that its client would hang up on: pictures by range, the rest in parts', async () => {
  const { agent, owner, workspace } = await openPlace()
  writeFileSync(join(workspace, 'large.png'), picture(9_000_000))
  writeFileSync(join(workspace, 'large.log'), 'abc\n'.repeat(3_000_000))
  const refused = await agent.call('read_file', { path: 'large.png' })
  expect(refused).toMatchObject({ isError: true, code: 'too_large' })
  expect(refused['message']).toContain('9000000 bytes; one read returns at most 7000000')
  expect(refused['hint']).toContain('byte_from')
  const part = { path: 'large.png', byte_from: 0, max_bytes: 20_000_000 }
  expect(await agent.call('read_file', part)).toMatchObject({ next_byte: 7_000_000 })
  const log = await agent.call('read_file', { path: 'large.log', max_bytes: 11_000_000 })
  expect(log).toMatchObject({ isError: false, next_byte: 7_000_000 })
  expect(log['content']).toHaveLength(7_000_000)
  // People have other doors.
  expect(await owner.call('read_file', { path: 'large.png' })).toMatchObject({ success: true })
})

test('F4 FT9 several pictures come as far as they fit in one answer, the rest is named', async () => {
  const { agent, workspace } = await openPlace()
  const paths = ['1.png', '2.png', '3.png', '4.png', 'small.txt']
  for (const path of paths.slice(0, 4)) writeFileSync(join(workspace, path), picture(3_000_000))
  writeFileSync(join(workspace, 'small.txt'), 'small')
  const read = await agent.call('read_files', { paths })
  const pathsOf = (list: unknown) => (list as { path: string }[]).map(({ path }) => path)
  expect(pathsOf(read['files'])).toEqual(
    ['1.png', '2.png', 'small.txt'].map((path) => join(workspace, path)),
  )
  expect(pathsOf(read['errors'])).toEqual(['3.png', '4.png'])
  expect(read['errors']).toContainEqual(
    expect.objectContaining({ code: 'too_large', message: expect.stringContaining('read_file') }),
  )
})

test('F4 FT8 a picture that has no room in an answer is not read for it', async () => {
  const { agent, app, workspace } = await openPlace()
  const paths = ['1.png', '2.png', '3.png']
  for (const path of paths) writeFileSync(join(workspace, path), picture(5_000_000))
  await agent.call('read_files', { paths })
  await expect
    .poll(async () => (await listEntries(app, '&tool=read_files')).at(-1)?.data?.['files'])
    .toEqual([
      expect.objectContaining({ size_bytes: 5_000_000, sha256: expect.any(String) }),
      ...['2.png', '3.png'].map((path) => ({
        path: join(workspace, path),
        area: 'workspace',
        success: false,
        code: 'too_large',
      })),
    ])
})

test('FT5 TR1 a destination that ends in a slash is the folder it goes into, under its own name', async () => {
  const { agent, workspace } = await openPlace()
  const at = (path: string) => join(workspace, path)
  for (const path of ['a.txt', 'b.txt', 'c.txt', 'd.txt'])
    await agent.call('create_file', { path, content: path })
  expect(await agent.call('move_file', { source: 'a.txt', destination: '2026/' })).toMatchObject({
    new_path: at('2026/a.txt'),
  })
  expect(await agent.call('copy_file', { source: 'b.txt', destination: '2026/' })).toMatchObject({
    destination_path: at('2026/b.txt'),
  })
  const { trash_id } = await agent.call('delete_file', { path: 'c.txt' })
  expect(await agent.call('trash_restore', { trash_id, destination: 'back/' })).toMatchObject({
    restored_path: at('back/c.txt'),
  })
  expect(await agent.call('move_file', { source: '2026/', destination: 'old/' })).toMatchObject({
    new_path: at('old/2026'),
  })
  expect(await agent.call('create_file', { path: 'new/', content: '' })).toMatchObject({
    code: 'invalid_path',
  })
})

test('FT10 where a folder is already, the path to give is named', async () => {
  const { agent, workspace, grant } = await openPlace()
  const at = (path: string) => join(workspace, path)
  mkdirSync(at('2025'))
  for (const path of ['a.txt', 'b.txt']) await agent.call('create_file', { path, content: path })
  const { trash_id } = await agent.call('delete_file', { path: 'b.txt' })
  const hintOf = async (tool: string, args: object) => {
    const { code, hint } = await agent.call(tool, args)
    expect(code).toBe('exists')
    return hint
  }
  const moved = { source: 'a.txt', destination: '2025' }
  expect(await hintOf('move_file', moved)).toBe(
    `The destination is a folder. Use ${at('2025/a.txt')}.`,
  )
  expect(await hintOf('copy_file', moved)).toContain(at('2025/a.txt'))
  expect(await hintOf('trash_restore', { trash_id, destination: '2025' })).toContain(
    at('2025/b.txt'),
  )
  expect(await hintOf('create_file', { path: '2025', content: '' })).toContain(
    'The destination is a folder',
  )
  // A create-only grant reveals nothing about existing files (GR9).
  const mine = newFolder()
  mkdirSync(join(mine, 'sub'))
  await grant(mine, 'write')
  expect(await hintOf('create_file', { path: join(mine, 'sub'), content: '' })).not.toContain(
    'is a folder',
  )
})

test('F5 a folder as destination does not bypass the check of the resulting path', async () => {
  const { agent, workspace } = await openPlace()
  mkdirSync(join(workspace, 'new'))
  for (const path of ['.bashrc', 'x.exe']) writeFileSync(join(workspace, 'new', path), '')
  for (const tool of ['move_file', 'copy_file']) {
    expect(await agent.call(tool, { source: 'new/x.exe', destination: 'b/' })).toMatchObject({
      code: 'forbidden_extension',
    })
    expect(await agent.call(tool, { source: 'new/.bashrc', destination: 'b/' })).toMatchObject({
      isError: true,
      code: 'approval_required',
    })
  }
  const { trash_id } = await agent.call('delete_file', { path: 'new/.bashrc' })
  expect(await agent.call('trash_restore', { trash_id, destination: 'b/' })).toMatchObject({
    code: 'forbidden_path',
  })
})

test('FT4 FT1 text never comes over a document or a picture', async () => {
  const { agent, workspace } = await openPlace()
  const contents = {
    'a.docx': buildDocx(paragraph('Dear Mr')),
    'a.pdf': buildPdf('Dear Mr'),
    'a.png': picture(2000),
    // By its bytes, not by its name.
    'letter.txt': buildDocx(paragraph('Dear Mr')),
  }
  for (const [path, bytes] of Object.entries(contents)) {
    writeFileSync(join(workspace, path), bytes)
    const calls = [
      agent.call('update_file', { path, content: 'Dear Mrs' }),
      agent.call('update_file', { path, edits: [{ old: 'Mr', new: 'Mrs' }] }),
      agent.call('create_file', { path, content: 'x', overwrite: true }),
    ]
    for (const answer of await Promise.all(calls)) {
      expect(answer).toMatchObject({ isError: true, code: 'not_text' })
      expect(answer['message']).toContain('Cannot edit files of type')
      expect(answer['hint']).toContain('Write a new file instead')
    }
    expect(readFileSync(join(workspace, path)).equals(bytes)).toBe(true)
  }
  const content = picture(3000).toString('base64')
  const over = { path: 'a.png', content, overwrite: true, encoding: 'base64' }
  expect(await agent.call('create_file', over)).toMatchObject({ size_bytes: 3000 })
  expect(
    await agent.call('create_file', { path: 'a.pdf', content: '%PDF-1.4 new', overwrite: true }),
  ).toMatchObject({ success: true })
})

test('FT10 an argument that a file tool does not have is refused by its name', async () => {
  const { agent, api } = await openPlace()
  await agent.call('create_file', { path: 'a.txt', content: 'a' })
  const refused = await agent.call('read_file', { path: 'a.txt', offset: 7, line_start: 2 })
  expect(refused).toMatchObject({ isError: true, code: 'invalid_input' })
  expect(refused['message']).toBe(
    'read_file has no offset: it takes path, head, tail, line_from, line_to, byte_from, byte_to, max_bytes. It has no line_start: line_from or line_to?',
  )
  expect(await agent.call('read_file', { file: 'a.txt' })).toMatchObject({
    message: expect.stringMatching(/^read_file needs path\. It has no file: /),
  })
  expect(await agent.call('update_file', { path: 'a.txt', edits: [{ old: 'a' }] })).toMatchObject({
    message: 'update_file needs edits.0.new.',
  })
  expect(refused).not.toHaveProperty('issues')
  // `agent_id` is accepted in every call, although it is not an argument of the tool.
  const mine = { path: 'a.txt', agent_id: 'writer' }
  expect(await agent.call('read_file', mine)).toMatchObject({ isError: false, content: 'a' })
  expect(await api.call('read_file', mine)).toMatchObject({ content: 'a' })
})

test('L10 FT8 get_audit_log takes paths as the file tools do, and grants are found by theirs', async () => {
  const { agent, workspace } = await openPlace()
  await agent.call('create_file', { path: 'Documents/notes/a.txt', content: 'a' })
  await agent.call('check_grant', { path: './Documents//notes/a.txt' })
  await agent.call('request_grant', { path: '~/not-there-1', permission: 'read', reason: 'x' })
  await agent.call('check_grant', { path: '~/not-there-1' })
  const found = async (path_filter: string) => {
    const { entries } = await agent.call('get_audit_log', { path_filter })
    return (entries as { operation: string; path: string }[]).map(
      ({ operation, path }) => `${operation} ${path}`,
    )
  }
  const file = join(workspace, 'Documents/notes/a.txt')
  const both = [`check_grant ${file}`, `create_file ${file}`]
  for (const filter of ['Documents/notes', 'Documents/notes/', file, './Documents/no'])
    await expect.poll(() => found(filter)).toEqual(both)
  expect(await found('Documents/notes/b')).toEqual([])
  const there = join(homedir(), 'not-there-1')
  await expect
    .poll(() => found('~/not-there-1'))
    .toEqual([`check_grant ${there}`, `request_grant ${there}`])
})

test('FT9 a diff names the version by its id, and where nothing is or was there are no versions', async () => {
  const { agent, workspace } = await openPlace()
  await agent.call('create_file', { path: 'a.txt', content: 'one\n' })
  expect(await agent.call('file_versions', { path: 'a.txt' })).toMatchObject({ versions: [] })
  await agent.call('update_file', { path: 'a.txt', content: 'two\n', create_backup: false })
  const { versions } = await agent.call('file_versions', { path: 'a.txt' })
  const id = (versions as { version_id: string }[])[0]?.version_id
  expect((await agent.call('file_diff', { path: 'a.txt' }))['diff']).toContain(`version ${id}`)
  expect(await agent.call('file_versions', { path: 'b.txt' })).toMatchObject({ code: 'not_found' })
  rmSync(join(workspace, 'a.txt'))
  expect(await agent.call('file_versions', { path: 'a.txt' })).toMatchObject({
    versions: [{ version_id: id }],
  })
})

test('SV12 the text alone states the end of a file, links and the path of the backup', async () => {
  const { agent, workspace } = await openPlace()
  await agent.call('create_file', { path: 'n/a.txt', content: 'a\nb\n' })
  await agent.call('create_file', { path: 'n/empty.txt', content: '' })
  symlinkSync('a.txt', join(workspace, 'n/link'))
  const textOf = async (args: object) => (await agent.call('read_file', args)).text
  expect(await textOf({ path: 'n/a.txt', line_from: 9 })).toMatch(/^\[The file has 2 lines\.\]/)
  expect(await textOf({ path: 'n/a.txt', byte_from: 99 })).toMatch(/^\[The file has 4 bytes\.\]/)
  expect(await textOf({ path: 'n/empty.txt' })).toBe('[Empty file.]')
  expect(await agent.call('read_file', { path: 'n/empty.txt' })).toMatchObject({ content: '' })
  const listed = await agent.call('list_files', { path: 'n' })
  expect(listed.text).toContain('link@')
  expect(listed.text).not.toContain('link (')
  expect((await agent.call('list_files', { path: 'n', details: false })).text).toContain('link@')
  expect((await agent.call('file_tree', { path: 'n' })).text).toContain('link@')
  const updated = await agent.call('update_file', { path: 'n/a.txt', content: 'c\n' })
  expect(updated.text).toContain(`Backup: ${join(workspace, 'n/a.txt.bak')}`)
})

test('SV12 a cursor that no answer gave is refused where that can be told', async () => {
  const { agent } = await openPlace()
  expect(await agent.call('trash_list', { cursor: 'made up' })).toMatchObject({
    code: 'invalid_query',
  })
})

test('FT9 FT10 read_files names what it could not read once, by the path that was given', async () => {
  const { agent, workspace } = await openPlace()
  mkdirSync(join(workspace, 'folder'))
  const missing = join(workspace, 'none.txt')
  for (const path of [missing, 'gone.txt', 'folder', '/somewhere/else.txt']) {
    const { text, errors } = await agent.call('read_files', { paths: [path] })
    const [{ message = '' } = {}] = errors as { message?: string }[]
    expect(text).toBe(`=== ${path}\n[Failed: ${message}]`)
    expect(message).not.toContain(workspace)
  }
  const { text } = await agent.call('read_files', { paths: [missing] })
  expect(text).toContain(`${missing}\n[Failed: Not found.`)
})

test('PV5 PV8 what an agent is told of secrets and of documents is not said to people', async () => {
  const { agent, owner, workspace } = await openPlace()
  writeFileSync(join(workspace, 'server.pem'), 'key')
  writeFileSync(join(workspace, 'report.pdf'), buildPdf('figures'))
  const warned = async (reader: Pick<typeof owner, 'call'>, path: string) =>
    (await reader.call('read_file', { path }))['warnings']
  expect(await warned(agent, 'server.pem')).toEqual([expect.stringContaining('Do not repeat')])
  expect(await warned(agent, 'report.pdf')).toEqual([expect.stringContaining('untrusted text')])
  const secrets = 'Sensitive file.'
  expect(await warned(owner, 'server.pem')).toEqual([secrets])
  expect(await warned(owner, 'report.pdf')).toEqual(['Extracted from a document.'])
  const diff = await owner.call('file_diff', { path: 'server.pem', with: 'report.pdf' })
  expect(diff['warnings']).toEqual([secrets])
})
