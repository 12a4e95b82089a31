import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import iconv from 'iconv-lite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { granted, inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { fill, pinnedRoot, testFolders } from '../../../test/roots.ts'
import { toInode } from '../confine/inode.ts'

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(async () => {
  await files.close()
  // No test leaves a temporary file.
  const left = ['workspace', 'granted', 'versions'].flatMap((name) =>
    fs.readdirSync(join(files.top, name), { recursive: true, encoding: 'utf8' }),
  )
  if (left.some((name) => name.includes('.tmp'))) throw new Error('a temporary file remains')
})

const content = (path: string) => fs.readFileSync(join(files.workspace, path), 'utf8')
const inodeAt = (path: string) =>
  toInode(fs.statSync(join(files.workspace, path), { bigint: true }))
const readMode = (path: string) => fs.statSync(join(files.workspace, path)).mode & 0o7777
const readVersionText = (hash: string) =>
  fs.readFileSync(join(files.top, 'versions', hash.slice(0, 2), hash.slice(2)), 'utf8')

describe('create', () => {
  const ask = { writeMode: 'create', encoding: 'utf-8' } as const

  test('FT1 creates a complete file with its parent folders', async () => {
    const answer = await files.run('write', { ...ask, at: inWorkspace('a/b/c.md') }, 'text')
    expect(answer).toMatchObject({
      sha256: sha256('text'),
      stat: { size: 4, type: 'file', links: 1 },
    })
    expect(answer.before).toBeUndefined()
    expect(content('a/b/c.md')).toBe('text')
    expect(readMode('a/b/c.md')).toBe(0o644)
  })

  test('FT1 overwrites no existing file and does not read it', async () => {
    files.put({ 'a.md': 'old' })
    fs.mkdirSync(join(files.workspace, 'folder'))
    expect(await files.refusal('write', { ...ask, at: inWorkspace('a.md') }, 'new')).toBe('exists')
    expect(await files.refusal('write', { ...ask, at: inWorkspace('folder') }, 'new')).toBe(
      'exists',
    )
    expect(content('a.md')).toBe('old')
  })

  test('FT1 only one of many concurrent creates succeeds', async () => {
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) =>
        files.run('write', { ...ask, at: inWorkspace('one.md') }, `by ${at}`),
      ),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('F4 refuses content over the limit', async () => {
    const small = openTestOps({ limits: { maxFileBytes: 10, maxBinaryReadBytes: 10 } })
    expect(await small.refusal('write', { ...ask, at: inWorkspace('a') }, 'x'.repeat(11))).toBe(
      'too_large',
    )
    expect(fs.readdirSync(small.workspace)).toEqual([])
    await small.close()
  })

  test('F5 refuses forbidden extensions, also through a link', async () => {
    fs.symlinkSync('tool.exe', join(files.workspace, 'notes.txt'))
    expect(await files.refusal('write', { ...ask, at: inWorkspace('a.EXE') }, 'x')).toBe(
      'forbidden_extension',
    )
    expect(await files.refusal('write', { ...ask, at: inWorkspace('notes.txt') }, 'x')).toBe(
      'forbidden_extension',
    )
    await files.run('write', { ...ask, at: inWorkspace('Code/bash/run.sh') }, 'x')
    expect(await files.refusal('write', { ...ask, at: inWorkspace('run.sh') }, 'x')).toBe(
      'forbidden_extension',
    )
  })

  test('FT1 writes a text in the given encoding', async () => {
    await files.run(
      'write',
      { ...ask, encoding: 'windows-1252', at: inWorkspace('a.txt') },
      'café €',
    )
    await files.run('write', { ...ask, encoding: 'utf-16le', at: inWorkspace('b.txt') }, 'é')
    await files.run(
      'write',
      { ...ask, encoding: 'binary', at: inWorkspace('c') },
      Buffer.of(0, 255),
    )
    const bytes = (path: string) => fs.readFileSync(join(files.workspace, path)).toString('hex')
    expect(bytes('a.txt')).toBe('636166e92080')
    expect(bytes('b.txt')).toBe('fffee900')
    expect(bytes('c')).toBe('00ff')
    const at = inWorkspace('d.txt')
    expect(await files.refusal('write', { ...ask, encoding: 'nonsense', at }, 'x')).toBe(
      'unknown_encoding',
    )
  })

  test('FT1 a refused write creates no folder', async () => {
    const at = inWorkspace('new/deep/a.txt')
    const refusal = (encoding: string) => files.refusal('write', { ...ask, encoding, at }, '漢字')
    expect(await refusal('nonsense')).toBe('unknown_encoding')
    expect(await refusal('windows-1252')).toBe('not_text')
    expect(fs.readdirSync(files.workspace)).toEqual([])
  })
})

describe('replace', () => {
  const ask = { writeMode: 'replace', encoding: 'keep' } as const

  test('FT4 a dry run returns the same answer and changes nothing', async () => {
    files.put({
      'windows.txt': 'one\r\ntwo\r\n',
      'old.txt': iconv.encode('Les élèves français étaient très fatigués.\n', 'windows-1252'),
      'picture.bin': Buffer.from([0, 1, 2, 3, 255]),
    })
    const before = fs.readdirSync(files.top, { recursive: true })
    const dry = (path: string, text: string, more = {}) =>
      files.run(
        'write',
        { ...ask, at: inWorkspace(path), backup: true, dryRun: true, ...more },
        text,
      )
    const windows = await dry('windows.txt', 'one\nthree\n')
    expect(windows.diff?.split('\n').slice(2)).toEqual([
      '@@ -1,2 +1,2 @@',
      ' one\r',
      '-two\r',
      '+three\r',
    ])
    expect(windows.sha256).toBe(sha256('one\r\nthree\r\n'))
    expect([windows.before, windows.backup]).toEqual([undefined, undefined])
    // The change is possible, but has no diff.
    expect((await dry('picture.bin', 'text')).diff).toBeUndefined()
    await expect(dry('old.txt', '漢字')).rejects.toMatchObject({ code: 'not_text' })
    await expect(dry('old.txt', 'x', { expected: sha256('x') })).rejects.toMatchObject({
      code: 'stale',
    })
    expect(fs.readdirSync(files.top, { recursive: true })).toEqual(before)
    expect(content('windows.txt')).toBe('one\r\ntwo\r\n')
    const real = await files.run(
      'write',
      { ...ask, at: inWorkspace('windows.txt') },
      'one\nthree\n',
    )
    expect(real).toMatchObject({ diff: windows.diff, sha256: windows.sha256 })
  })

  test('FT4 writing equal content creates no version and no backup', async () => {
    files.put({ 'a.md': 'same\r\n' })
    const at = inWorkspace('a.md')
    const { mtimeNs } = fs.statSync(join(files.workspace, 'a.md'), { bigint: true })
    const answer = await files.run('write', { ...ask, at, backup: true }, 'same\n')
    expect(answer).toMatchObject({ diff: '', sha256: sha256('same\r\n') })
    expect(answer.before).toBeUndefined()
    expect(fs.readdirSync(files.workspace)).toEqual(['a.md'])
    expect(fs.readdirSync(join(files.top, 'versions'))).toEqual([])
    expect(fs.statSync(join(files.workspace, 'a.md'), { bigint: true }).mtimeNs).toBe(mtimeNs)
  })

  test('FT4 a name of any length has a backup that keeps its start and extension', async () => {
    const names = [
      `${'n'.repeat(251)}.pem`,
      'n'.repeat(252),
      `${'ö'.repeat(125)}.md`,
      `n.${'x'.repeat(253)}`,
    ]
    for (const name of names) {
      files.put({ [name]: 'zero' })
      const update = (text: string) =>
        files.run('write', { ...ask, at: inWorkspace(name), backup: true, reviewed: true }, text)
      const [first = '', second = ''] = [(await update('one')).backup, (await update('two')).backup]
      expect([content(first), content(second)]).toEqual(['zero', 'one'])
      for (const backup of [first, second]) {
        expect(Buffer.byteLength(backup)).toBeLessThanOrEqual(255)
        expect(backup).not.toContain('\uFFFD')
        expect(backup).toMatch(/^[nö].*\.bak(\.1)?$/)
      }
    }
    expect(fs.readdirSync(files.workspace)).toContainEqual(expect.stringMatching(/^n+\.pem\.bak$/))
  })

  test('FT4 the answer is short for any amount of changes', async () => {
    files.put({
      'long.json': `"${'x'.repeat(20_000_000)}END"`,
      'odd.txt': '\u0001'.repeat(900_000),
    })
    const edits = [{ old: 'END', new: 'FIN' }]
    const edited = await files.run('edit', { at: inWorkspace('long.json'), edits })
    expect(edited.before?.size).toBe(20_000_005)
    const written = await files.run(
      'write',
      { ...ask, at: inWorkspace('odd.txt') },
      '\u0002\n'.repeat(900_000),
    )
    expect(written.diff?.length).toBeGreaterThan(50_000)
    for (const answer of [edited, written])
      expect(JSON.stringify(answer).length).toBeLessThan(1_000_000)
  })

  test('TR3 stores the previous content under its hash first', async () => {
    files.put({ 'a.md': 'old' })
    const from = inodeAt('a.md')
    const answer = await files.run('write', { ...ask, at: inWorkspace('a.md') }, 'new')
    const swap = { from, to: inodeAt('a.md') }
    expect(answer.before).toEqual({ sha256: sha256('old'), size: 3, mode: 0o644, swap })
    expect(readVersionText(sha256('old'))).toBe('old')
    expect(content('a.md')).toBe('new')
    expect(answer.diff).toContain('-old\n+new')
  })

  test('FT4 keeps mode, encoding, line endings and byte order mark', async () => {
    files.put({
      'windows.txt': 'one\r\ntwo\r\n',
      'marked.txt': Buffer.from('\uFEFFone\n'),
      'wide.txt': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('ö\r\n', 'utf16le')]),
      'old.txt': iconv.encode('Les élèves français étaient très fatigués.\n', 'windows-1252'),
      'script.py': 'print(1)\n',
    })
    fs.chmodSync(join(files.workspace, 'script.py'), 0o755)
    fs.chmodSync(join(files.workspace, 'windows.txt'), 0o600)
    const write = (path: string, text: string) =>
      files.run('write', { ...ask, at: inWorkspace(path) }, text)
    await write('windows.txt', 'uno\ndos\ntres\n')
    await write('marked.txt', 'uno\n')
    await write('wide.txt', 'ü\n')
    await write('old.txt', 'forêt\n')
    await write('script.py', 'print(2)\n')
    expect(content('windows.txt')).toBe('uno\r\ndos\r\ntres\r\n')
    expect(content('marked.txt')).toBe('\uFEFFuno\n')
    const bytes = (path: string) => fs.readFileSync(join(files.workspace, path)).toString('hex')
    expect(bytes('wide.txt')).toBe('fffefc000d000a00')
    expect(bytes('old.txt')).toBe('666f72ea740a')
    expect([readMode('windows.txt'), readMode('script.py')]).toEqual([0o600, 0o755])
  })

  test('F5 drops setuid and setgid bits', async () => {
    files.put({ tool: 'old' })
    fs.chmodSync(join(files.workspace, 'tool'), 0o4755)
    await files.run('write', { ...ask, at: inWorkspace('tool') }, 'new')
    expect(readMode('tool')).toBe(0o755)
  })

  test('FT4 refuses text that the encoding of the file lacks, and changes nothing', async () => {
    const bytes = iconv.encode('Les élèves français étaient très fatigués.', 'windows-1252')
    files.put({ 'old.txt': bytes })
    expect(await files.refusal('write', { ...ask, at: inWorkspace('old.txt') }, '漢字')).toBe(
      'not_text',
    )
    expect(fs.readFileSync(join(files.workspace, 'old.txt')).equals(bytes)).toBe(true)
  })

  test('FT10 a file that changed since it was read is stale', async () => {
    files.put({ 'a.md': 'other' })
    const at = inWorkspace('a.md')
    expect(await files.refusal('write', { ...ask, at, expected: sha256('old') }, 'new')).toBe(
      'stale',
    )
    await files.run('write', { ...ask, at, expected: sha256('other') }, 'new')
    expect(content('a.md')).toBe('new')
    expect(await files.refusal('write', { ...ask, at: inWorkspace('none') }, 'new')).toBe(
      'not_found',
    )
  })

  test('FT10 only one of many concurrent changes of a content succeeds', async () => {
    files.put({ 'a.md': 'old' })
    const expected = sha256('old')
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) =>
        files.run('write', { ...ask, at: inWorkspace('a.md'), expected }, `by ${at}`),
      ),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('FT4 each backup takes the next free name and has the old content', async () => {
    files.put({ 'a.md': 'zero', 'a.md.bak.1': 'somebody’s' })
    const backups: (string | undefined)[] = []
    for (const text of ['one', 'two', 'three']) {
      const at = inWorkspace('a.md')
      backups.push((await files.run('write', { ...ask, at, backup: true }, text)).backup)
    }
    expect(backups).toEqual(['a.md.bak', 'a.md.bak.2', 'a.md.bak.3'])
    expect(backups.map((name) => content(name ?? ''))).toEqual(['zero', 'one', 'two'])
    expect(content('a.md.bak.1')).toBe('somebody’s')
    expect(fs.statSync(join(files.workspace, 'a.md.bak')).nlink).toBe(1)
  })

  test('PV3 a hard link outside keeps the old content', async () => {
    const outside = join(files.outside, 'shared.txt')
    fs.writeFileSync(outside, 'theirs')
    fs.linkSync(outside, join(files.workspace, 'shared.txt'))
    const at = inWorkspace('shared.txt')
    await files.run('write', { ...ask, at, backup: true }, 'ours')
    fs.writeFileSync(join(files.workspace, 'shared.txt.bak'), 'changed')
    expect(fs.readFileSync(outside, 'utf8')).toBe('theirs')
    fs.linkSync(outside, join(files.granted, 'shared.txt'))
    // In a granted folder the hard link is refused.
    expect(await files.refusal('write', { ...ask, at: granted('shared.txt') }, 'ours')).toBe(
      'hard_link',
    )
  })

  test('PV1 follows a link inside the folder, which stays a link', async () => {
    files.put({ 'real/a.md': 'old' })
    fs.symlinkSync('real/a.md', join(files.workspace, 'link.md'))
    await files.run('write', { ...ask, at: inWorkspace('link.md') }, 'new')
    expect(content('real/a.md')).toBe('new')
    expect(fs.lstatSync(join(files.workspace, 'link.md')).isSymbolicLink()).toBe(true)
    fs.symlinkSync(join(files.outside, 'secret.txt'), join(files.workspace, 'out.md'))
    expect(await files.refusal('write', { ...ask, at: inWorkspace('out.md') }, 'new')).toBe(
      'path_escape',
    )
  })
})

test('FT1 put creates a missing file and replaces an existing one', async () => {
  const ask = { writeMode: 'put', encoding: 'utf-8', at: inWorkspace('a.md') } as const
  expect((await files.run('write', ask, 'one')).before).toBeUndefined()
  expect((await files.run('write', ask, 'two')).before?.sha256).toBe(sha256('one'))
  expect(content('a.md')).toBe('two')
})

test('GR6 writes a granted file in place and stores its old content, longer or shorter', async () => {
  const folders = testFolders()
  fill(folders.granted, { 'one.txt': 'the old text' })
  const path = join(folders.granted, 'one.txt')
  const root = pinnedRoot('grant_file', path, { kind: 'file' })
  const one = openTestOps({ folders, roots: [...folders.setup.roots, root] })
  const ask = {
    at: { root: 'grant_file', path: '' },
    writeMode: 'replace',
    encoding: 'keep',
  } as const
  const { ino } = fs.statSync(path)
  const answer = await one.run('write', ask, 'short')
  expect(answer).toMatchObject({ before: { sha256: sha256('the old text') }, stat: { size: 5 } })
  expect(fs.readFileSync(path, 'utf8')).toBe('short')
  await one.run('write', ask, 'a longer text than ever before')
  expect(fs.readFileSync(path, 'utf8')).toBe('a longer text than ever before')
  expect(fs.statSync(path).ino).toBe(ino)
  expect(await one.refusal('write', { ...ask, writeMode: 'create' }, 'x')).toBe('exists')
  const edited = await one.run('edit', { at: ask.at, edits: [{ old: 'longer', new: 'other' }] })
  expect(edited.diff).toContain('+a other text')
  await one.close()
})
