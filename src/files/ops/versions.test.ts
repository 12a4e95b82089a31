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
const kept = (hash: string) => join(files.top, 'versions', hash.slice(0, 2), hash.slice(2))

test('TR3 a kept content comes back with its mode, and the present one is kept first', async () => {
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
  // Also where the file is gone by now.
  fs.rmSync(join(files.workspace, 'a.md'))
  await files.run('restoreVersion', { at, sha256: sha256('one'), mode: 0o644 })
  expect(content()).toBe('one')
})

test('F5 a version brings the execute bit to Code/, and elsewhere only where the file has it', async () => {
  await write('one')
  await write('two')
  const back = { sha256: sha256('one'), mode: 0o755 }
  const modeOf = (path: string) => fs.statSync(join(files.workspace, path)).mode & 0o777
  await files.run('restoreVersion', { at, ...back })
  expect(modeOf('a.md')).toBe(0o644)
  fs.chmodSync(join(files.workspace, 'a.md'), 0o744)
  await files.run('restoreVersion', { at, ...back })
  expect(modeOf('a.md')).toBe(0o744)
  await files.run('restoreVersion', { at: inWorkspace('Code/a.py'), ...back })
  expect(modeOf('Code/a.py')).toBe(0o755)
})

test('TR3 the folders of the store are there before the first version, and one that goes comes back', async () => {
  await write('one')
  await write('two')
  expect(fs.readdirSync(join(files.top, 'versions'))).toHaveLength(256)
  fs.rmSync(dirname(kept(sha256('two'))), { recursive: true })
  await write('three')
  expect(fs.readFileSync(kept(sha256('two')), 'utf8')).toBe('two')
})

test('TR3 the same content is kept once, and goes when it is dropped', async () => {
  await write('one')
  await write('two')
  await write('one')
  await write('three')
  const { ino } = fs.statSync(kept(sha256('one')))
  await write('one')
  await write('four')
  expect(fs.statSync(kept(sha256('one'))).ino).toBe(ino)
  const hashes = ['one', 'two', 'none'].map(sha256)
  expect(await files.run('deleteVersions', { sha256: hashes })).toEqual({ bytes: 6 })
  expect(fs.existsSync(kept(sha256('one')))).toBe(false)
  const restored = (hash: string) =>
    files.refusal('restoreVersion', { at, sha256: hash, mode: 0o644 })
  expect(await restored(sha256('one'))).toBe('unreadable')
  expect(await restored('../../outside/secret.txt')).toBe('not_found')
})

test.each(['on', 'onf', 'one and more'])(
  'TR3 what a crash left torn under the name of a version (%s) is replaced by the whole',
  async (torn) => {
    await write('one')
    fs.mkdirSync(dirname(kept(sha256('one'))))
    fs.writeFileSync(kept(sha256('one')), torn)
    await write('two')
    expect(fs.readFileSync(kept(sha256('one')), 'utf8')).toBe('one')
    expect(fs.readdirSync(dirname(kept(sha256('one'))))).toHaveLength(1)
  },
)

test('TR3 contents that are kept at the same moment are kept once, and all whole', async () => {
  const paths = ['a.md', 'b.md', 'c.md']
  files.put(Object.fromEntries(paths.map((path) => [path, 'same'])))
  const ask = { writeMode: 'replace', encoding: 'binary' } as const
  await Promise.all(
    paths.map((path) => files.run('write', { ...ask, at: inWorkspace(path) }, `new ${path}`)),
  )
  expect(fs.readFileSync(kept(sha256('same')), 'utf8')).toBe('same')
})

test('TR3 a damaged version is not put back', async () => {
  await write('one')
  await write('two')
  fs.writeFileSync(kept(sha256('one')), 'onf')
  expect(await files.refusal('restoreVersion', { at, sha256: sha256('one'), mode: 0o644 })).toBe(
    'unreadable',
  )
  expect(content()).toBe('two')
})

test('FT9 files and versions are compared line by line, whatever their encoding', async () => {
  await write('one\ntwo\n')
  await write(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('one\nzwei\n', 'utf16le')]))
  files.put({ 'b.bin': Buffer.of(0, 1, 2) })
  const from = { sha256: sha256('one\ntwo\n'), name: '7' }
  const { diff } = await files.run('diff', { from, to: at })
  expect(diff).toBe('--- version 7\n+++ a.md\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei')
  expect((await files.run('diff', { from: at, to: at })).diff).toBe('')
  expect(await files.refusal('diff', { from: at, to: inWorkspace('b.bin') })).toBe('not_text')
})

test('PV5 of a file that may hold secrets, also behind a link, only that it differs is told', async () => {
  files.put({ 'a.md': 'plain\n', 'server.pem': 'secret\n', 'other.pem': 'secret\n' })
  fs.symlinkSync('server.pem', join(files.workspace, 'innocent.txt'))
  const diff = (from: string, to: string) =>
    files.run('diff', { from: inWorkspace(from), to: inWorkspace(to) })
  expect(await diff('a.md', 'server.pem')).toEqual({ sensitive: true })
  expect(await diff('innocent.txt', 'a.md')).toEqual({ sensitive: true })
  expect(await diff('innocent.txt', 'other.pem')).toEqual({ sensitive: true, diff: '' })
})

test('FT9 a difference that no line shows is not told as none', async () => {
  files.put({ 'a.md': 'one\n', 'b.md': 'one' })
  const sides = { from: inWorkspace('a.md'), to: inWorkspace('b.md') }
  expect(await files.run('diff', sides)).toEqual({ sensitive: false })
})

test('F6 cowork’s own files are written where agents may not', async () => {
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

test('TR3 a content that is not there any more is said to be, and not its file', async () => {
  await write('one')
  await write('two')
  fs.rmSync(kept(sha256('one')))
  const back = files.run('restoreVersion', { at, sha256: sha256('one'), mode: 0o644 })
  await expect(back).rejects.toMatchObject({
    code: 'unreadable',
    message: 'The stored version is missing.',
  })
  expect(content()).toBe('two')
})

test('TR4 what a crash left unfinished among the contents goes with a look at them', async () => {
  await write('one')
  await write('two')
  const folder = dirname(kept(sha256('one')))
  const [old, young] = ['0', '1'].map((one) => join(folder, `.cowork-${one.repeat(24)}.tmp`))
  for (const path of [old, young]) fs.writeFileSync(String(path), 'left')
  const hours = new Date(Date.now() - 2 * 60 * 60 * 1000)
  fs.utimesSync(String(old), hours, hours)
  expect((await files.run('listVersions', { before: Infinity })).sha256).toEqual([sha256('one')])
  expect(fs.readdirSync(folder).toSorted()).toEqual(
    [basename(String(young)), sha256('one').slice(2)].toSorted(),
  )
})
