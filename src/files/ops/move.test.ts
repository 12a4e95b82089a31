import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { granted, inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { fill, testFolders } from '../../../test/roots.ts'
import { mountSmallDisk } from '../../../test/small-disk.ts'

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(() => files.close())

const inside = (path: string) => join(files.workspace, path)
const content = (path: string) => fs.readFileSync(inside(path), 'utf8')
const toMove = (from: string, to: string) => ({ from: inWorkspace(from), to: inWorkspace(to) })
const move = (from: string, to: string) => files.run('move', toMove(from, to))

describe('move', () => {
  test('FT5 moves a file to its new name and creates parent folders', async () => {
    files.put({ 'a.md': 'text' })
    const { ino } = fs.statSync(inside('a.md'))
    expect((await move('a.md', 'x/y/b.md')).stat).toMatchObject({ type: 'file', size: 4, links: 1 })
    expect(content('x/y/b.md')).toBe('text')
    expect(fs.statSync(inside('x/y/b.md')).ino).toBe(ino)
    expect(fs.existsSync(inside('a.md'))).toBe(false)
  })

  test('FT5 overwrites nothing, not even an empty folder', async () => {
    files.put({ 'a.md': 'a', 'b.md': 'b', 'f/x.md': '', 'g/y.md': '' })
    fs.mkdirSync(inside('empty'))
    fs.symlinkSync('b.md', inside('link'))
    for (const to of ['b.md', 'f', 'empty', 'link', 'a.md'])
      expect(await files.refusal('move', toMove('a.md', to)), to).toBe('exists')
    for (const to of ['b.md', 'g', 'empty', 'link'])
      expect(await files.refusal('move', toMove('f', to)), to).toBe('exists')
    expect([content('a.md'), content('b.md')]).toEqual(['a', 'b'])
    expect(fs.readdirSync(inside('empty'))).toEqual([])
  })

  test('FT5 moves a folder with its content, and not into itself', async () => {
    files.put({ 'f/a.md': 'a', 'f/g/b.md': 'b' })
    expect(await files.refusal('move', toMove('f', 'f/g/h'))).toBe('invalid_path')
    fs.symlinkSync('f', inside('same'))
    expect(await files.refusal('move', toMove('f', 'same/g/h'))).toBe('invalid_path')
    await move('f', 'new/place')
    expect(content('new/place/g/b.md')).toBe('b')
    expect(fs.existsSync(inside('f'))).toBe(false)
  })

  test('PV1 moves a link itself and never its target', async () => {
    const target = join(files.outside, 'secret.txt')
    fs.symlinkSync(target, inside('link'))
    await move('link', 'sub/link')
    expect(fs.readlinkSync(inside('sub/link'))).toBe(target)
    expect(fs.readFileSync(target, 'utf8')).toBe('SECRET')
    fs.symlinkSync(files.outside, inside('out'))
    files.put({ 'a.md': 'a' })
    expect(await files.refusal('move', toMove('a.md', 'out/a.md'))).toBe('path_escape')
    expect(fs.readdirSync(files.outside)).toEqual(['secret.txt'])
  })

  test('PV4 refuses to move a folder with a protected path inside', async () => {
    fill(files.granted, { 'f/.env': 'x', 'g/a.md': '', 'h/mine/a.md': '' })
    const refusal = (from: string, closed: readonly string[] = []) =>
      files.refusal('move', { from: { ...granted(from), closed }, to: granted('elsewhere') })
    expect(await refusal('f')).toBe('forbidden_path')
    expect(await refusal('h', ['h/mine'])).toBe('no_grant')
    expect(await refusal('closed')).toBe('forbidden_path')
    expect(fs.readdirSync(files.granted).toSorted()).toEqual(['f', 'g', 'h'])
  })

  test('F5 refuses a forbidden extension as move target, and clears execute bits outside of Code/', async () => {
    files.put({ 'a.md': 'a', 'Code/python/run.py': 'x' })
    expect(await files.refusal('move', toMove('a.md', 'a.exe'))).toBe('forbidden_extension')
    fs.chmodSync(inside('Code/python/run.py'), 0o755)
    await move('Code/python/run.py', 'Code/other/run.py')
    expect(fs.statSync(inside('Code/other/run.py')).mode & 0o777).toBe(0o755)
    await move('Code/other/run.py', 'Documents/run.py')
    expect(fs.statSync(inside('Documents/run.py')).mode & 0o777).toBe(0o644)
  })

  test('F5 refuses to move a folder with entries that could not be created at the target', async () => {
    files.put({ 'x/hooks/pre-commit': '', 'bare/hooks/update': '', 'plain/a.md': '' })
    files.put({ 'Code/bash/s/deep/run.sh': '', 'keys/server.txt': '' })
    expect(await files.refusal('move', toMove('x', 'repo/.git'))).toBe('forbidden_path')
    expect(await files.refusal('move', toMove('bare', 'b.git'))).toBe('forbidden_path')
    expect(await files.refusal('move', toMove('x/hooks', 'c.git/hooks'))).toBe('forbidden_path')
    expect(await files.refusal('move', toMove('x', '.vscode'))).toBe('forbidden_path')
    expect(await files.refusal('move', toMove('Code/bash/s', 'Documents/s'))).toBe(
      'forbidden_extension',
    )
    await files.run('move', { ...toMove('x', 'repo/.git'), reviewed: true })
    expect(fs.existsSync(inside('repo/.git/hooks/pre-commit'))).toBe(true)
    await move('Code/bash/s', 'Code/bash/t')
    await move('plain', 'Documents/plain')
  })

  test('F5 moves a repository with its scripts unchanged', async () => {
    files.put({ 'p/.git/hooks/pre-commit': '', 'p/gradlew.sh': '', 'p/server.pem': '' })
    await move('p', 'q/p')
    expect(fs.readdirSync(inside('q/p')).toSorted()).toEqual(['.git', 'gradlew.sh', 'server.pem'])
  })

  test('F5 clears execute bits in a folder moved out of Code/, and keeps them within a granted folder', async () => {
    files.put({ 'Code/k/deep/tool.py': '', 'Code/k/a.md': '' })
    fill(files.granted, { 'p/tool.py': '' })
    fs.chmodSync(inside('Code/k/deep/tool.py'), 0o755)
    fs.chmodSync(join(files.granted, 'p/tool.py'), 0o755)
    fs.symlinkSync('deep/tool.py', inside('Code/k/link'))
    await move('Code/k', 'Code/l')
    const modeOf = (path: string) => fs.statSync(path).mode & 0o777
    expect(modeOf(inside('Code/l/deep/tool.py'))).toBe(0o755)
    await move('Code/l', 'Documents/l')
    expect(modeOf(inside('Documents/l/deep/tool.py'))).toBe(0o644)
    expect(modeOf(inside('Documents/l/deep'))).toBe(0o755)
    await files.run('move', { from: granted('p'), to: granted('q') })
    expect(modeOf(join(files.granted, 'q/tool.py'))).toBe(0o755)
  })

  test('PV5 refuses to move a file that only its folder marks as sensitive', async () => {
    const sensitive = ['**/private/*']
    const own = openTestOps({ folders: files, guard: { ...files.setup.guard, sensitive } })
    own.put({ 'private/a.md': '', 'q/private/b.md': '' })
    const ask = { from: inWorkspace('private'), to: inWorkspace('open') }
    expect(await own.refusal('move', ask)).toBe('forbidden_path')
    await own.run('move', { ...ask, reviewed: true })
    await own.run('move', { from: inWorkspace('q'), to: inWorkspace('r') })
    await own.close()
  })

  test('FT10 refuses to move a missing path and the root itself', async () => {
    expect(await files.refusal('move', toMove('none', 'b'))).toBe('not_found')
    expect(await files.refusal('move', toMove('', 'b'))).toBe('is_a_folder')
  })

  test('PV3 moves a special file by its name, without opening it', async () => {
    execFileSync('mkfifo', [inside('pipe')])
    expect((await move('pipe', 'other')).stat.type).toBe('other')
  })
})

describe('copy', () => {
  const copy = (from: string, to: string) => files.run('copy', toMove(from, to))

  test('FT5 a copy has the content and the mode, and execute bits only in Code/', async () => {
    files.put({ 'a.py': 'text' })
    fs.chmodSync(inside('a.py'), 0o750)
    expect(await copy('a.py', 'x/b.py')).toMatchObject({
      sha256: sha256('text'),
      stat: { size: 4, links: 1 },
    })
    await copy('a.py', 'Code/b.py')
    expect(fs.statSync(inside('x/b.py')).mode & 0o777).toBe(0o640)
    expect(fs.statSync(inside('Code/b.py')).mode & 0o777).toBe(0o750)
    expect(content('a.py')).toBe('text')
  })

  test('FT5 a copy overwrites nothing and follows links that stay inside', async () => {
    files.put({ 'a.md': 'a', 'b.md': 'b' })
    fs.symlinkSync('a.md', inside('link.md'))
    expect(await files.refusal('copy', toMove('a.md', 'b.md'))).toBe('exists')
    expect(await files.refusal('copy', toMove('b.md', 'link.md'))).toBe('exists')
    await copy('link.md', 'c.md')
    expect(content('c.md')).toBe('a')
    expect(fs.lstatSync(inside('c.md')).isFile()).toBe(true)
    expect(fs.readdirSync(files.workspace)).toHaveLength(4)
  })

  test('PV5 copies a sensitive file to another name only after approval, also through a link', async () => {
    files.put({ 'server.pem': 'KEY' })
    fs.symlinkSync('server.pem', inside('innocent.txt'))
    for (const from of ['server.pem', 'innocent.txt'])
      expect(await files.refusal('copy', toMove(from, 'plain.txt')), from).toBe('forbidden_path')
    await files.run('copy', { ...toMove('server.pem', 'plain.txt'), reviewed: true })
    expect(content('plain.txt')).toBe('KEY')
  })

  test('PV9 refuses to copy a cloud placeholder', async () => {
    fs.writeFileSync(inside('stub.pdf'), '')
    fs.truncateSync(inside('stub.pdf'), 1_000_000)
    expect(await files.refusal('copy', toMove('stub.pdf', 'b.pdf'))).toBe('cloud_placeholder')
    expect(fs.readdirSync(files.workspace)).toEqual(['stub.pdf'])
  })

  test('F4 moves a file over the limit and refuses to copy it', async () => {
    const small = openTestOps({ limits: { maxFileBytes: 10, maxBinaryReadBytes: 10 } })
    small.put({ 'a.md': 'x'.repeat(11) })
    const ask = toMove('a.md', 'b.md')
    expect(await small.refusal('copy', ask)).toBe('too_large')
    await small.run('move', ask)
    expect(fs.readdirSync(small.workspace)).toEqual(['b.md'])
    await small.close()
  })

  test('FT5 a copy leaves the source unchanged', async () => {
    fill(files.granted, { 'a.docx': 'theirs' })
    await files.run('copy', { from: granted('a.docx'), to: inWorkspace('Documents/mine.docx') })
    expect(content('Documents/mine.docx')).toBe('theirs')
    expect(fs.readdirSync(files.granted)).toEqual(['a.docx'])
  })
})

describe('across disks', () => {
  test('TR2 a move to another disk verifies the copy before it removes the source', async () => {
    const folders = testFolders()
    const disk = mountSmallDisk(join(folders.top, 'disk'), 512)
    try {
      const root = folders.root('other', disk.path)
      const two = openTestOps({ folders, roots: [...folders.setup.roots, root] })
      fill(folders.workspace, { 'f/a.md': 'a', 'f/g/b.md': 'b', 'one.md': 'one' })
      fs.symlinkSync('a.md', join(folders.workspace, 'f/link'))
      fs.chmodSync(join(folders.workspace, 'one.md'), 0o600)
      const to = (path: string) => ({ root: 'other', path })
      await two.run('move', { from: inWorkspace('one.md'), to: to('one.md') })
      await two.run('move', { from: inWorkspace('f'), to: to('x/f') })
      expect(fs.readdirSync(folders.workspace)).toEqual([])
      expect(fs.readFileSync(join(disk.path, 'x/f/g/b.md'), 'utf8')).toBe('b')
      expect(fs.readlinkSync(join(disk.path, 'x/f/link'))).toBe('a.md')
      expect(fs.statSync(join(disk.path, 'one.md')).mode & 0o777).toBe(0o600)

      // A file that does not fit stays and leaves no partial copy.
      fill(folders.workspace, {
        'big/a.md': 'a',
        'big/b.bin': Buffer.alloc(1024 ** 2, 1),
        'x.md': '',
      })
      const ask = { from: inWorkspace('big'), to: to('big') }
      expect(await two.refusal('move', ask)).toBe('disk_full')
      expect(fs.readdirSync(join(folders.workspace, 'big'))).toEqual(['a.md', 'b.bin'])
      expect(fs.readdirSync(disk.path).toSorted()).toEqual(['one.md', 'x'])
      expect(await two.refusal('move', { from: inWorkspace('x.md'), to: to('one.md') })).toBe(
        'exists',
      )

      // A folder with a cloud placeholder is not moved either.
      fs.truncateSync(join(folders.workspace, 'x.md'), 100_000)
      expect(await two.refusal('move', { from: inWorkspace('x.md'), to: to('y.md') })).toBe(
        'cloud_placeholder',
      )
      await two.close()
    } finally {
      disk.remove()
    }
  })
})

test('FT5 moving a missing path creates no folder', async () => {
  const ask = { from: inWorkspace('nope'), to: inWorkspace('new/deep/x') }
  expect(await files.refusal('move', ask)).toBe('not_found')
  expect(fs.existsSync(join(files.workspace, 'new'))).toBe(false)
})
