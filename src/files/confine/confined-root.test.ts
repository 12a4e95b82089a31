import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fill, openDescriptors, pinnedRoot, testFolders } from '../../../test/roots.ts'
import type { TestFolders } from '../../../test/roots.ts'
import type { Root } from '../worker/protocol.ts'
import { openRegularFile } from '../ops/regular-file.ts'
import { FileError } from './file-error.ts'
import { openRoots } from './roots.ts'
import type { ConfinedRoot, Roots } from './types.ts'

/** What the act was refused with, or what it returned. */
function refusal(act: () => unknown): string {
  try {
    return `returned ${String(act())}`
  } catch (error) {
    if (error instanceof FileError) return error.code
    throw error
  }
}

function read(confined: ConfinedRoot, path: string): string {
  const { fd } = confined.openFile(path)
  try {
    return fs.readFileSync(fd, 'utf8')
  } finally {
    fs.closeSync(fd)
  }
}

const write = (confined: ConfinedRoot, path: string, content: string, parents = false) =>
  confined.withParent(
    path,
    ({ entryPath, name }) => fs.writeFileSync(entryPath(name), content, { flag: 'wx' }),
    {
      need: 'write',
      parents,
    },
  )

// The same rules by either way of reaching the disk; `checked` runs on Linux as well, where it is not needed.
describe.each(['walk', 'checked'] as const)('confinement by %s', (containment) => {
  let folders: TestFolders
  let roots: Roots
  let granted: ConfinedRoot
  let descriptors: number

  beforeEach(() => {
    folders = testFolders()
    descriptors = openDescriptors()
    roots = openRoots(folders.setup, containment)
    granted = roots.get('grant_1')
  })
  afterEach(() => {
    roots.close()
    // Whatever a test did, nothing stays open.
    if (openDescriptors() !== descriptors) throw new Error('a descriptor was left open')
  })

  const reopen = (root: Root) => {
    roots.close()
    roots = openRoots({ ...folders.setup, roots: [root] }, containment)
    return roots
  }

  test('PV1 files and folders are found below the root, by links that stay inside too', () => {
    fill(folders.granted, { 'a/b/c.txt': 'inside', 'top.txt': 'top' })
    fs.symlinkSync('b', join(folders.granted, 'a/same'))
    fs.symlinkSync('../../top.txt', join(folders.granted, 'a/b/up.txt'))
    fs.symlinkSync(join(folders.granted, 'a'), join(folders.granted, 'absolute'))
    fs.symlinkSync('absolute/same/../b/up.txt', join(folders.granted, 'chain'))
    fs.symlinkSync('.', join(folders.granted, 'here'))
    expect(read(granted, 'a/b/c.txt')).toBe('inside')
    expect(read(granted, './a//b/./c.txt')).toBe('inside')
    expect(read(granted, 'a/same/c.txt')).toBe('inside')
    expect(read(granted, 'a/b/up.txt')).toBe('top')
    expect(read(granted, 'absolute/b/c.txt')).toBe('inside')
    expect(read(granted, 'here/here/here/top.txt')).toBe('top')
    expect(read(granted, 'chain')).toBe('top')
    expect(granted.stat('chain')).toMatchObject({
      real: 'top.txt',
      stat: { type: 'file', size: 3 },
    })
    expect(granted.stat('absolute').real).toBe('a')
    expect(granted.stat('')).toMatchObject({ real: '', stat: { type: 'folder' } })
    for (const path of ['', 'a/same', 'absolute']) {
      const { fd, real } = granted.openFolder(path)
      expect(fs.readdirSync(granted.entryPath(fd)).toSorted()).toEqual(
        fs.readdirSync(join(folders.granted, real)).toSorted(),
      )
      fs.closeSync(fd)
    }
  })

  test.each([
    ['out-file', '../outside/secret.txt', ''],
    ['out-folder', '../outside', '/secret.txt'],
    ['absolute', '/etc/passwd', ''],
    ['magic', '/proc/self/root/etc/passwd', ''],
    ['environ', '/proc/self/environ', ''],
    ['sibling', '../granted-evil/file.txt', ''],
    ['over-the-top', '../../../../../../../../../../etc/passwd', ''],
  ])('PV1 the link %s leads out and is refused', (name, target, rest) => {
    fill(folders.top, { 'granted-evil/file.txt': 'evil' })
    fs.symlinkSync(target, join(folders.granted, name))
    fs.symlinkSync(name, join(folders.granted, 'chain'))
    for (const path of [name + rest, `chain${rest}`]) {
      expect(refusal(() => granted.openFile(path))).toBe('path_escape')
      expect(refusal(() => granted.stat(path))).toBe('path_escape')
      expect(refusal(() => write(granted, path, 'x'))).toBe('path_escape')
      expect(refusal(() => granted.openFolder(path))).toBe('path_escape')
    }
  })

  test('PV1 a link that goes round in a circle is refused', () => {
    fs.symlinkSync('two', join(folders.granted, 'one'))
    fs.symlinkSync('one', join(folders.granted, 'two'))
    fs.symlinkSync('self/x', join(folders.granted, 'self'))
    for (const path of ['one', 'two/x', 'self'])
      expect(refusal(() => granted.openFile(path))).toBe('path_escape')
  })

  test('PV1 nothing outside is made or changed through a link, dangling or not', () => {
    fs.symlinkSync('../outside', join(folders.granted, 'folder'))
    fs.symlinkSync('../outside/new.txt', join(folders.granted, 'dangling'))
    fs.symlinkSync('../outside/secret.txt', join(folders.granted, 'file'))
    const before = fs.readdirSync(folders.outside)
    for (const path of ['folder/x', 'folder/deep/er/x', 'dangling', 'file', 'dangling/x'])
      expect(
        refusal(() => write(granted, path, 'x', true)),
        path,
      ).toMatch(/path_escape|not_found/)
    expect(fs.readdirSync(folders.outside)).toEqual(before)
    expect(fs.readFileSync(join(folders.outside, 'secret.txt'), 'utf8')).toBe('SECRET')
  })

  test('PV1 missing folders are made on the way where that is asked for', () => {
    fill(folders.granted, { 'a/x.txt': '' })
    fs.symlinkSync('a', join(folders.granted, 'link'))
    write(granted, 'link/b/c/new.txt', 'new', true)
    expect(fs.readFileSync(join(folders.granted, 'a/b/c/new.txt'), 'utf8')).toBe('new')
    expect(refusal(() => write(granted, 'no/where.txt', 'x'))).toBe('not_found')
    expect(fs.existsSync(join(folders.granted, 'no'))).toBe(false)
  })

  test('PV1 the last name is followed, or meant itself where that is asked for', () => {
    fill(folders.granted, { 'a/file.txt': '' })
    fs.symlinkSync('a/file.txt', join(folders.granted, 'link'))
    const real = (keepLeafLink: boolean) =>
      granted.withParent('link', (parent) => parent.real, { need: 'write', keepLeafLink })
    expect(real(false)).toBe('a/file.txt')
    expect(real(true)).toBe('link')
  })

  test('PV1 the folder stays open until what uses it is done', async () => {
    fill(folders.granted, { 'a/b/file.txt': 'late' })
    const read = await granted.withParent('a/b/file.txt', async ({ entryPath, name }) => {
      await new Promise(setImmediate)
      return fs.readFileSync(entryPath(name), 'utf8')
    })
    expect(read).toBe('late')
    const failing = granted.withParent('a/b/file.txt', async () => {
      await new Promise(setImmediate)
      throw new Error('later')
    })
    await expect(failing).rejects.toThrow('later')
  })

  test.each([
    ['../outside/secret.txt', 'path_traversal'],
    ['a/../../outside/secret.txt', 'path_traversal'],
    ['/etc/passwd', 'path_escape'],
    ['a\0b', 'invalid_path'],
    ['%2e%2e/outside/secret.txt', 'not_found'],
    ['..\\outside/secret.txt', 'not_found'],
    ['．．/outside/secret.txt', 'not_found'],
    ['file:///etc/passwd', 'not_found'],
    ['~/x', 'not_found'],
  ])('PV2 %j is answered with %s', (path, code) => {
    expect(refusal(() => granted.openFile(path))).toBe(code)
    expect(refusal(() => granted.stat(path))).toBe(code)
    expect(refusal(() => write(granted, path, 'x'))).toBe(code)
  })

  test('PV2 what is too long is refused before the disk sees it', () => {
    for (const path of ['x'.repeat(256), 'ü'.repeat(128), 'x/'.repeat(3000)]) {
      expect(refusal(() => granted.openFile(path))).toBe('invalid_path')
      expect(refusal(() => write(granted, path, 'x', true))).toBe('invalid_path')
    }
    expect(fs.readdirSync(folders.granted)).toEqual([])
  })

  test('PV2 odd names are names', () => {
    const names = [
      'a..b.txt',
      '...',
      '..\\outside\\x',
      ' lead',
      'trail ',
      'nl\n.txt',
      'ü',
      'x'.repeat(255),
    ]
    for (const name of names) {
      write(granted, name, name)
      expect(read(granted, name)).toBe(name)
    }
    expect(fs.readdirSync(folders.granted).toSorted()).toEqual(names.toSorted())
  })

  test('PV2 a folder 500 levels down is reached, and one too deep is a clean refusal', () => {
    const path = `${'d/'.repeat(500)}leaf.txt`
    write(granted, path, 'deep', true)
    expect(read(granted, path)).toBe('deep')
    expect(refusal(() => granted.stat(`${'d/'.repeat(2040)}x`))).toBe('not_found')
  })

  test('PV3 only regular files are opened, and the others are refused at once', async () => {
    execFileSync('mkfifo', [join(folders.granted, 'pipe')])
    execFileSync('mknod', [join(folders.granted, 'device'), 'c', '1', '5'])
    const server = createServer().listen(join(folders.granted, 'socket'))
    await new Promise((listening) => server.once('listening', listening))
    for (const name of ['pipe', 'device', 'socket']) {
      expect(
        refusal(() => granted.openFile(name)),
        name,
      ).toBe('not_regular')
      expect(granted.stat(name).stat.type).toBe('other')
    }
    await new Promise((closed) => server.close(closed))
    fill(folders.granted, { 'folder/x': '' })
    expect(refusal(() => granted.openFile('folder'))).toBe('is_a_folder')
    expect(refusal(() => granted.openFile(''))).toBe('is_a_folder')
    expect(refusal(() => granted.openFile('folder/x/y'))).toBe('not_a_folder')
    expect(refusal(() => granted.openFolder('folder/x'))).toBe('not_a_folder')
    expect(refusal(() => granted.openFile('folder/x/y/z'))).toBe('not_a_folder')
    expect(refusal(() => granted.withParent('', () => undefined))).toBe('is_a_folder')
  })

  test('PV3 a file with a second name is read where the grant says so, and in the workspace', () => {
    for (const folder of [folders.granted, folders.workspace])
      fs.linkSync(join(folders.outside, 'secret.txt'), join(folder, 'hard'))
    expect(refusal(() => granted.openFile('hard'))).toBe('hard_link')
    expect(read(roots.get('workspace'), 'hard')).toBe('SECRET')
    const allowed = pinnedRoot('grant_1', folders.granted, { hardLinks: true })
    expect(read(reopen(allowed).get('grant_1'), 'hard')).toBe('SECRET')
  })

  test('GR6 PV3 what is denied as a file is not opened by its second name either', () => {
    fill(folders.granted, { 'kept.txt': 'denied', 'free.txt': 'free' })
    fs.linkSync(join(folders.granted, 'kept.txt'), join(folders.granted, 'again.txt'))
    const { dev, ino } = fs.statSync(join(folders.granted, 'kept.txt'), { bigint: true })
    const denied = [{ dev: String(dev), ino: String(ino) }]
    reopen(pinnedRoot('grant_1', folders.granted, { hardLinks: true }))
    const theirs = roots.get('grant_1', ['kept.txt'], denied)
    for (const name of ['kept.txt', 'again.txt'])
      expect(
        refusal(() => theirs.openFile(name)),
        name,
      ).toBe('no_grant')
    const leaf = (name: string) => openRegularFile(theirs, join(folders.granted, name), name)
    expect(refusal(() => leaf('again.txt'))).toBe('no_grant')
    expect(read(theirs, 'free.txt')).toBe('free')
    expect(read(roots.get('grant_1'), 'again.txt')).toBe('denied')
  })

  test('PV4 a forbidden name stays forbidden however it is reached', () => {
    fill(folders.granted, {
      '.ssh/config': 'key',
      'a/.env': 'TOKEN',
      'closed/x': 'closed',
      '.env.example': 'fine',
    })
    fs.symlinkSync('.ssh', join(folders.granted, 'harmless'))
    fs.symlinkSync('a/.env', join(folders.granted, 'settings'))
    fs.symlinkSync('closed', join(folders.granted, 'open'))
    for (const path of [
      '.ssh/config',
      '.SSH/config',
      'harmless/config',
      'a/.env',
      'a/.ENV',
      'settings',
      'closed/x',
      'open/x',
    ]) {
      expect(
        refusal(() => granted.openFile(path)),
        path,
      ).toBe('forbidden_path')
      expect(
        refusal(() => write(granted, path, 'x')),
        path,
      ).toBe('forbidden_path')
    }
    expect(refusal(() => write(granted, 'open/made/here', 'x', true))).toBe('forbidden_path')
    expect(fs.readdirSync(join(folders.granted, 'closed'))).toEqual(['x'])
    expect(read(granted, '.env.example')).toBe('fine')
    const { fd } = granted.openFolder('')
    expect(refusal(() => granted.openChild(fd, 'closed', 'closed'))).toBe('forbidden_path')
    fs.closeSync(granted.openChild(fd, 'a', 'a'))
    fs.symlinkSync('a', join(folders.granted, 'link'))
    expect(refusal(() => granted.openChild(fd, 'link', 'link'))).toBe('not_a_folder')
    expect(refusal(() => granted.openChild(fd, 'none', 'none'))).toBe('not_found')
    for (const name of ['..', '.', '', 'a/b', '/etc'])
      expect(refusal(() => granted.openChild(fd, name, 'a'))).toBe('path_traversal')
    fs.closeSync(fd)
    expect(['closed', 'a/.env', 'a'].map(granted.isHidden)).toEqual([true, true, false])
  })

  test('GR6 what is closed to this caller is no_grant for it, by links and other spellings too', () => {
    fill(folders.granted, { 'mine/x': 'x', 'theirs/y': 'y', 'theirs-too/z': 'z' })
    fs.symlinkSync('theirs', join(folders.granted, 'link'))
    const mine = roots.get('grant_1', ['theirs'])
    expect(read(mine, 'mine/x')).toBe('x')
    expect(read(mine, 'theirs-too/z')).toBe('z')
    for (const path of ['theirs/y', './theirs//y', 'link/y', 'Theirs/y', 'theirs'])
      expect(
        refusal(() => mine.openFile(path)),
        path,
      ).toBe('no_grant')
    expect(mine.isHidden('theirs/y')).toBe(true)
    const { fd } = mine.openFolder('')
    expect(refusal(() => mine.openChild(fd, 'theirs', 'theirs'))).toBe('no_grant')
    fs.closeSync(fd)
    expect(read(granted, 'theirs/y')).toBe('y')
    const parent = roots.get('grant_1', ['mine/x'])
    const take = () => parent.withParent('mine', () => 'moved', { need: 'write' })
    expect(refusal(take)).toBe('no_grant')
  })

  test('GR6 a root for reading is not written', () => {
    const readOnly = reopen(pinnedRoot('grant_1', folders.granted, { access: 'read' }))
    expect(refusal(() => write(readOnly.get('grant_1'), 'x', 'x'))).toBe('read_only_grant')
    expect(refusal(() => readOnly.get('grant_2'))).toBe('no_grant')
  })

  test('F5 some files are not made, and some are written only after a look', () => {
    const workspace = roots.get('workspace')
    expect(refusal(() => write(workspace, 'x.exe', ''))).toBe('forbidden_extension')
    expect(refusal(() => write(workspace, 'x.sh', ''))).toBe('forbidden_extension')
    write(workspace, 'Code/bash/x.sh', '', true)
    fill(folders.granted, { 'run.sh': 'echo' })
    const change = () => granted.withParent('run.sh', () => 'changed', { need: 'write' })
    expect(change()).toBe('changed')
    fs.symlinkSync('new.sh', join(folders.granted, 'harmless.txt'))
    expect(refusal(() => write(granted, 'harmless.txt', ''))).toMatch(/forbidden_ext|not_found/)

    const hook = (reviewed: boolean) =>
      granted.withParent('.git/hooks/pre-commit', () => 'written', {
        need: 'write',
        parents: true,
        reviewed,
      })
    expect(refusal(() => hook(false))).toBe('forbidden_path')
    expect(fs.existsSync(join(folders.granted, '.git'))).toBe(false)
    expect(hook(true)).toBe('written')
    // To take it away runs nothing.
    const away = { need: 'delete', keepLeafLink: true } as const
    expect(granted.withParent('.git/hooks/pre-commit', () => 'gone', away)).toBe('gone')
  })

  test('PV5 a link to what holds secrets is no way to write it without a look', () => {
    fill(folders.granted, { 'server.pem': 'KEY' })
    fs.symlinkSync('server.pem', join(folders.granted, 'innocent.txt'))
    const change = (path: string, reviewed: boolean) =>
      granted.withParent(path, () => 'changed', { need: 'write', reviewed })
    expect(refusal(() => change('innocent.txt', false))).toBe('forbidden_path')
    expect(refusal(() => granted.openFile('innocent.txt', { write: true }))).toBe('forbidden_path')
    expect(change('server.pem', true)).toBe('changed')
    expect(read(granted, 'innocent.txt')).toBe('KEY')
  })

  test('F6 agents read .cowork/ of the workspace, and cowork itself writes it', () => {
    fill(folders.workspace, { '.cowork/index.json': '{}' })
    const workspace = roots.get('workspace')
    expect(read(workspace, '.cowork/index.json')).toBe('{}')
    expect(refusal(() => write(workspace, '.cowork/x', ''))).toBe('forbidden_path')
    const own = { need: 'write', own: true } as const
    expect(workspace.withParent('.cowork/index.json', () => 'written', own)).toBe('written')
  })

  test('GR6 a file that was granted opens itself and nothing beside it', () => {
    fill(folders.granted, { 'one.txt': 'one', 'two.txt': 'two' })
    const path = join(folders.granted, 'one.txt')
    const one = reopen(pinnedRoot('grant_1', path, { kind: 'file' })).get('grant_1')
    expect(read(one, '')).toBe('one')
    expect(one.stat('').stat).toMatchObject({ type: 'file', size: 3 })
    for (const other of ['two.txt', '../two.txt', '.'])
      expect(refusal(() => one.openFolder(other))).toMatch(/not_a_folder|path_traversal/)
    expect(refusal(() => one.openFile('two.txt'))).toBe('not_a_folder')
    expect(refusal(() => one.withParent('', () => undefined))).toBe('not_a_folder')

    const { fd } = one.openFile('', { write: true })
    fs.writeSync(fd, 'ONE')
    fs.closeSync(fd)
    expect(fs.readFileSync(path, 'utf8')).toBe('ONE')
  })

  test('PV9 a root that was replaced is noticed, before and while the worker runs', () => {
    fill(folders.granted, { 'x.txt': 'granted' })
    fs.renameSync(folders.granted, `${folders.granted}-away`)
    expect(refusal(() => granted.openFile('x.txt'))).toBe('root_replaced')
    fill(folders.granted, { 'x.txt': 'another' })
    expect(refusal(() => granted.openFile('x.txt'))).toBe('root_replaced')

    const again = openRoots(folders.setup, containment)
    expect(again.missing).toEqual([{ key: 'grant_1', code: 'root_replaced' }])
    expect(refusal(() => again.get('grant_1'))).toBe('root_replaced')
    again.close()
    fs.rmSync(folders.granted, { recursive: true })
    const gone = openRoots(folders.setup, containment)
    expect(gone.missing).toEqual([{ key: 'grant_1', code: 'not_found' }])
    gone.close()
  })

  test('PV9 a root that is a link by now is not entered', () => {
    fs.rmdirSync(folders.granted)
    fs.symlinkSync(folders.outside, folders.granted)
    const linked = openRoots(folders.setup, containment)
    expect(linked.missing).toMatchObject([{ key: 'grant_1' }])
    linked.close()
  })

  test('PV9 what is mounted inside is refused, folder and file', () => {
    fill(folders.granted, { 'disk/x': 'below', 'a/x': 'x' })
    const disk = join(folders.granted, 'disk')
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', disk])
    try {
      fs.writeFileSync(join(disk, 'x'), 'mounted')
      expect(refusal(() => granted.openFile('disk/x'))).toBe('other_device')
      expect(refusal(() => granted.stat('disk/x'))).toBe('other_device')
      expect(refusal(() => granted.openFolder('disk'))).toBe('other_device')
      expect(refusal(() => write(granted, 'disk/y', ''))).toBe('other_device')
      expect(read(granted, 'a/x')).toBe('x')
    } finally {
      execFileSync('umount', [disk])
    }
  })
})

describe('the walk alone', () => {
  test('PV1 a link may not even pass through a forbidden name', () => {
    const folders = testFolders()
    fill(folders.granted, { '.ssh/config': '', 'fine.txt': 'fine' })
    fs.symlinkSync('.ssh/../fine.txt', join(folders.granted, 'through'))
    const roots = openRoots(folders.setup)
    expect(refusal(() => roots.get('grant_1').openFile('through'))).toBe('forbidden_path')
    roots.close()
  })

  test('PV1 a link of thousands of steps ends in a refusal', () => {
    const folders = testFolders()
    fill(folders.granted, { 'a/b/x': '' })
    const back = join(folders.granted, 'a/back')
    fs.symlinkSync(`${'b/../'.repeat(800)}b/x`, back)
    const roots = openRoots(folders.setup)
    const granted = roots.get('grant_1')
    expect(granted.stat('a/back').real).toBe('a/b/x')
    for (let level = 1; level < 8; level++)
      fs.symlinkSync(
        `${`link${level - 1 || ''}/../`.repeat(300)}b/x`,
        join(folders.granted, `a/link${level}`),
      )
    fs.symlinkSync('b/../b', join(folders.granted, 'a/link'))
    expect(refusal(() => granted.stat('a/link7'))).toBe('path_escape')
    roots.close()
  })

  test('PV9 a bind mount inside is refused, although its device is the same', () => {
    const folders = testFolders()
    fill(folders.granted, { 'shown/x': '' })
    const shown = join(folders.granted, 'shown')
    execFileSync('mount', ['--bind', folders.outside, shown])
    const roots = openRoots(folders.setup)
    try {
      const granted = roots.get('grant_1')
      expect(refusal(() => granted.openFile('shown/secret.txt'))).toBe('other_device')
      expect(refusal(() => granted.openFolder('shown'))).toBe('other_device')
      expect(refusal(() => write(granted, 'shown/new.txt', ''))).toBe('other_device')
    } finally {
      execFileSync('umount', [shown])
      roots.close()
    }
  })
})
