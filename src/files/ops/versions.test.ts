import fs from 'node:fs'
import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(() => files.close())

const at = inWorkspace('a.md')
const write = (text: string | Uint8Array) =>
  files.run('write', { at, writeMode: 'put', encoding: 'binary' }, text)
const content = () => fs.readFileSync(join(files.workspace, 'a.md'), 'utf8')
const versionPath = (hash: string) => join(files.top, 'versions', hash.slice(0, 2), hash.slice(2))

test('TR3 restores a version with its mode after storing the current content', async () => {
  await write('one')
  fs.chmodSync(join(files.workspace, 'a.md'), 0o600)
  const { before } = await write('two')
  const answer = await files.run('restoreVersion', {
    at,
    sha256: sha256('one'),
    mode: before?.mode ?? 0,
  })
  expect(answer).toMatchObject({ sha256: sha256('one'), before: { sha256: sha256('two') } })
  expect(content()).toBe('one')
  expect(fs.statSync(join(files.workspace, 'a.md')).mode & 0o7777).toBe(0o600)
  await files.run('restoreVersion', { at, sha256: sha256('two'), mode: 0o4600 })
  expect(content()).toBe('two')
  expect(fs.statSync(join(files.workspace, 'a.md')).mode & 0o7777).toBe(0o600)
  // Also if the file is missing.
  fs.rmSync(join(files.workspace, 'a.md'))
  await files.run('restoreVersion', { at, sha256: sha256('one'), mode: 0o644 })
  expect(content()).toBe('one')
})

test('F5 restores execute bits in Code/, and elsewhere only if the file has them', async () => {
  await write('one')
  await write('two')
  const back = { sha256: sha256('one'), mode: 0o755 }
  const readMode = (path: string) => fs.statSync(join(files.workspace, path)).mode & 0o777
  await files.run('restoreVersion', { at, ...back })
  expect(readMode('a.md')).toBe(0o644)
  fs.chmodSync(join(files.workspace, 'a.md'), 0o744)
  await files.run('restoreVersion', { at, ...back })
  expect(readMode('a.md')).toBe(0o744)
  await files.run('restoreVersion', { at: inWorkspace('Code/a.py'), ...back })
  expect(readMode('Code/a.py')).toBe(0o755)
})

test('TR3 creates the shard folders before the first version, and a missing one again', async () => {
  await write('one')
  await write('two')
  expect(fs.readdirSync(join(files.top, 'versions'))).toHaveLength(256)
  fs.rmSync(dirname(versionPath(sha256('two'))), { recursive: true })
  await write('three')
  expect(fs.readFileSync(versionPath(sha256('two')), 'utf8')).toBe('two')
})

test('TR3 stores equal contents once and deletes them on request', async () => {
  await write('one')
  await write('two')
  await write('one')
  await write('three')
  const { ino } = fs.statSync(versionPath(sha256('one')))
  await write('one')
  await write('four')
  expect(fs.statSync(versionPath(sha256('one'))).ino).toBe(ino)
  const hashes = ['one', 'two', 'none'].map(sha256)
  expect(await files.run('deleteVersions', { sha256: hashes })).toEqual({ bytes: 6 })
  expect(fs.existsSync(versionPath(sha256('one')))).toBe(false)
  const restored = (hash: string) =>
    files.refusal('restoreVersion', { at, sha256: hash, mode: 0o644 })
  expect(await restored(sha256('one'))).toBe('unreadable')
  expect(await restored('../../outside/secret.txt')).toBe('not_found')
})

test.each(['on', 'onf', 'one and more'])(
  'TR3 replaces an incomplete version that a crash left (%s)',
  async (torn) => {
    await write('one')
    fs.mkdirSync(dirname(versionPath(sha256('one'))))
    fs.writeFileSync(versionPath(sha256('one')), torn)
    await write('two')
    expect(fs.readFileSync(versionPath(sha256('one')), 'utf8')).toBe('one')
    expect(fs.readdirSync(dirname(versionPath(sha256('one'))))).toHaveLength(1)
  },
)

test('TR3 stores equal contents once and completely under concurrency', async () => {
  const paths = ['a.md', 'b.md', 'c.md']
  files.put(Object.fromEntries(paths.map((path) => [path, 'same'])))
  const ask = { writeMode: 'replace', encoding: 'binary' } as const
  await Promise.all(
    paths.map((path) => files.run('write', { ...ask, at: inWorkspace(path) }, `new ${path}`)),
  )
  expect(fs.readFileSync(versionPath(sha256('same')), 'utf8')).toBe('same')
})

test('TR3 refuses to restore a damaged version', async () => {
  await write('one')
  await write('two')
  fs.writeFileSync(versionPath(sha256('one')), 'onf')
  expect(await files.refusal('restoreVersion', { at, sha256: sha256('one'), mode: 0o644 })).toBe(
    'unreadable',
  )
  expect(content()).toBe('two')
})

test('FT9 compares files and versions by line in any encoding', async () => {
  await write('one\ntwo\n')
  await write(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('one\nzwei\n', 'utf16le')]))
  files.put({ 'b.bin': Buffer.of(0, 1, 2) })
  const from = { sha256: sha256('one\ntwo\n'), name: '7' }
  const { diff } = await files.run('diff', { from, to: at })
  expect(diff).toBe('--- version 7\n+++ a.md\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei')
  expect((await files.run('diff', { from: at, to: at })).diff).toBe('')
  expect(await files.refusal('diff', { from: at, to: inWorkspace('b.bin') })).toBe('not_text')
})

test('PV5 reports only whether a sensitive file differs, also through a link', async () => {
  files.put({ 'a.md': 'plain\n', 'server.pem': 'secret\n', 'other.pem': 'secret\n' })
  fs.symlinkSync('server.pem', join(files.workspace, 'innocent.txt'))
  const diff = (from: string, to: string) =>
    files.run('diff', { from: inWorkspace(from), to: inWorkspace(to) })
  expect(await diff('a.md', 'server.pem')).toEqual({ sensitive: true })
  expect(await diff('innocent.txt', 'a.md')).toEqual({ sensitive: true })
  expect(await diff('innocent.txt', 'other.pem')).toEqual({ sensitive: true, diff: '' })
})

test('FT9 does not report a difference without changed lines as equal', async () => {
  files.put({ 'a.md': 'one\n', 'b.md': 'one' })
  const sides = { from: inWorkspace('a.md'), to: inWorkspace('b.md') }
  expect(await files.run('diff', sides)).toEqual({ sensitive: false })
})

test('F6 writes internal files where agents cannot', async () => {
  await files.run('writeInternalFile', { name: 'index.json' }, '{}')
  await files.run('writeInternalFile', { name: 'index.json' }, '{"a":1}')
  expect(fs.readFileSync(join(files.workspace, '.cowork/index.json'), 'utf8')).toBe('{"a":1}')
  expect(fs.readdirSync(join(files.workspace, '.cowork'))).toEqual(['index.json'])
  expect(await files.refusal('writeInternalFile', { name: '../a.md' }, 'x')).toBe('invalid_path')
  const own = {
    at: inWorkspace('.cowork/index.json'),
    writeMode: 'replace',
    encoding: 'utf-8',
  } as const
  expect(await files.refusal('write', own, 'x')).toBe('forbidden_path')
})

test('TR3 reports a missing version instead of a missing file', async () => {
  await write('one')
  await write('two')
  fs.rmSync(versionPath(sha256('one')))
  const back = files.run('restoreVersion', { at, sha256: sha256('one'), mode: 0o644 })
  await expect(back).rejects.toMatchObject({
    code: 'unreadable',
    message: 'The stored version is missing.',
  })
  expect(content()).toBe('two')
})

test('TR4 listing versions removes stale temporary files', async () => {
  await write('one')
  await write('two')
  const folder = dirname(versionPath(sha256('one')))
  const [old, young] = ['0', '1'].map((one) => join(folder, `.cowork-${one.repeat(24)}.tmp`))
  for (const path of [old, young]) fs.writeFileSync(String(path), 'left')
  const hours = new Date(Date.now() - 2 * 60 * 60 * 1000)
  fs.utimesSync(String(old), hours, hours)
  expect((await files.run('listVersions', { before: Infinity })).sha256).toEqual([sha256('one')])
  expect(fs.readdirSync(folder).toSorted()).toEqual(
    [basename(String(young)), sha256('one').slice(2)].toSorted(),
  )
})
