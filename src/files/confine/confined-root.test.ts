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

/** The error code of an operation, or what it returned. */
function getOutcome(operation: () => unknown): string {
  try {
    return `returned ${String(operation())}`
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

// Both implementations follow the same rules. `checked` runs on Linux here too.
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
    // A test must not leave a descriptor open.
    if (openDescriptors() !== descriptors) throw new Error('a descriptor was left open')
  })

  const reopen = (root: Root) => {
    roots.close()
    roots = openRoots({ ...folders.setup, roots: [root] }, containment)
    return roots
  }

  test('PV1 resolves files and folders below the root, including links that stay inside', () => {
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
  ])('PV1 refuses the link %s that leads out of the root', (name, target, rest) => {
    fill(folders.top, { 'granted-evil/file.txt': 'evil' })
    fs.symlinkSync(target, join(folders.granted, name))
    fs.symlinkSync(name, join(folders.granted, 'chain'))
    for (const path of [name + rest, `chain${rest}`]) {
      expect(getOutcome(() => granted.openFile(path))).toBe('path_escape')
      expect(getOutcome(() => granted.stat(path))).toBe('path_escape')
      expect(getOutcome(() => write(granted, path, 'x'))).toBe('path_escape')
      expect(getOutcome(() => granted.openFolder(path))).toBe('path_escape')
    }
  })

  test('PV1 refuses a link cycle', () => {
    fs.symlinkSync('two', join(folders.granted, 'one'))
    fs.symlinkSync('one', join(folders.granted, 'two'))
    fs.symlinkSync('self/x', join(folders.granted, 'self'))
    for (const path of ['one', 'two/x', 'self'])
      expect(getOutcome(() => granted.openFile(path))).toBe('path_escape')
  })

  test('PV1 creates and changes nothing outside the root through a link, dangling or not', () => {
    fs.symlinkSync('../outside', join(folders.granted, 'folder'))
    fs.symlinkSync('../outside/new.txt', join(folders.granted, 'dangling'))
    fs.symlinkSync('../outside/secret.txt', join(folders.granted, 'file'))
    const before = fs.readdirSync(folders.outside)
    for (const path of ['folder/x', 'folder/deep/er/x', 'dangling', 'file', 'dangling/x'])
      expect(
        getOutcome(() => write(granted, path, 'x', true)),
        path,
      ).toMatch(/path_escape|not_found/)
    expect(fs.readdirSync(folders.outside)).toEqual(before)
    expect(fs.readFileSync(join(folders.outside, 'secret.txt'), 'utf8')).toBe('SECRET')
  })

  test('PV1 creates missing parent folders on request', () => {
    fill(folders.granted, { 'a/x.txt': '' })
    fs.symlinkSync('a', join(folders.granted, 'link'))
    write(granted, 'link/b/c/new.txt', 'new', true)
    expect(fs.readFileSync(join(folders.granted, 'a/b/c/new.txt'), 'utf8')).toBe('new')
    expect(getOutcome(() => write(granted, 'no/where.txt', 'x'))).toBe('not_found')
    expect(fs.existsSync(join(folders.granted, 'no'))).toBe(false)
  })

  test('PV1 follows a link in the last name, or keeps it on request', () => {
    fill(folders.granted, { 'a/file.txt': '' })
    fs.symlinkSync('a/file.txt', join(folders.granted, 'link'))
    const real = (keepLeafLink: boolean) =>
      granted.withParent('link', (parent) => parent.real, { need: 'write', keepLeafLink })
    expect(real(false)).toBe('a/file.txt')
    expect(real(true)).toBe('link')
  })

  test('PV1 keeps the folder open until the callback is done', async () => {
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
  ])('PV2 refuses %j with %s', (path, code) => {
    expect(getOutcome(() => granted.openFile(path))).toBe(code)
    expect(getOutcome(() => granted.stat(path))).toBe(code)
    expect(getOutcome(() => write(granted, path, 'x'))).toBe(code)
  })

  test('PV2 refuses a path that is too long before any system call', () => {
    for (const path of ['x'.repeat(256), 'ü'.repeat(128), 'x/'.repeat(3000)]) {
      expect(getOutcome(() => granted.openFile(path))).toBe('invalid_path')
      expect(getOutcome(() => write(granted, path, 'x', true))).toBe('invalid_path')
    }
    expect(fs.readdirSync(folders.granted)).toEqual([])
  })

  test('PV2 accepts unusual names', () => {
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

  test('PV2 reaches a folder 500 levels deep and refuses a path that is too deep', () => {
    const path = `${'d/'.repeat(500)}leaf.txt`
    write(granted, path, 'deep', true)
    expect(read(granted, path)).toBe('deep')
    expect(getOutcome(() => granted.stat(`${'d/'.repeat(2040)}x`))).toBe('not_found')
  })

  test('PV3 opens only regular files and refuses the others without blocking', async () => {
    execFileSync('mkfifo', [join(folders.granted, 'pipe')])
    execFileSync('mknod', [join(folders.granted, 'device'), 'c', '1', '5'])
    const server = createServer().listen(join(folders.granted, 'socket'))
    await new Promise((listening) => server.once('listening', listening))
    for (const name of ['pipe', 'device', 'socket']) {
      expect(
        getOutcome(() => granted.openFile(name)),
        name,
      ).toBe('not_regular')
      expect(granted.stat(name).stat.type).toBe('other')
    }
    await new Promise((closed) => server.close(closed))
    fill(folders.granted, { 'folder/x': '' })
    expect(getOutcome(() => granted.openFile('folder'))).toBe('is_a_folder')
    expect(getOutcome(() => granted.openFile(''))).toBe('is_a_folder')
    expect(getOutcome(() => granted.openFile('folder/x/y'))).toBe('not_a_folder')
    expect(getOutcome(() => granted.openFolder('folder/x'))).toBe('not_a_folder')
    expect(getOutcome(() => granted.openFile('folder/x/y/z'))).toBe('not_a_folder')
    expect(getOutcome(() => granted.withParent('', () => undefined))).toBe('is_a_folder')
  })

  test('PV3 reads a file with a second hard link if the grant allows it, and in the workspace', () => {
    for (const folder of [folders.granted, folders.workspace])
      fs.linkSync(join(folders.outside, 'secret.txt'), join(folder, 'hard'))
    expect(getOutcome(() => granted.openFile('hard'))).toBe('hard_link')
    expect(read(roots.get('workspace'), 'hard')).toBe('SECRET')
    const allowed = pinnedRoot('grant_1', folders.granted, { hardLinks: true })
    expect(read(reopen(allowed).get('grant_1'), 'hard')).toBe('SECRET')
  })

  test('GR6 PV3 refuses a denied file by its second hard link too', () => {
    fill(folders.granted, { 'kept.txt': 'denied', 'free.txt': 'free' })
    fs.linkSync(join(folders.granted, 'kept.txt'), join(folders.granted, 'again.txt'))
    const { dev, ino } = fs.statSync(join(folders.granted, 'kept.txt'), { bigint: true })
    const denied = [{ dev: String(dev), ino: String(ino) }]
    reopen(pinnedRoot('grant_1', folders.granted, { hardLinks: true }))
    const restricted = roots.get('grant_1', ['kept.txt'], denied)
    for (const name of ['kept.txt', 'again.txt'])
      expect(
        getOutcome(() => restricted.openFile(name)),
        name,
      ).toBe('no_grant')
    const openEntry = (name: string) =>
      openRegularFile(restricted, join(folders.granted, name), name)
    expect(getOutcome(() => openEntry('again.txt'))).toBe('no_grant')
    expect(read(restricted, 'free.txt')).toBe('free')
    expect(read(roots.get('grant_1'), 'again.txt')).toBe('denied')
  })

  test('PV4 refuses a protected name by every path that reaches it', () => {
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
        getOutcome(() => granted.openFile(path)),
        path,
      ).toBe('forbidden_path')
      expect(
        getOutcome(() => write(granted, path, 'x')),
        path,
      ).toBe('forbidden_path')
    }
    expect(getOutcome(() => write(granted, 'open/made/here', 'x', true))).toBe('forbidden_path')
    expect(fs.readdirSync(join(folders.granted, 'closed'))).toEqual(['x'])
    expect(read(granted, '.env.example')).toBe('fine')
    const { fd } = granted.openFolder('')
    expect(getOutcome(() => granted.openChild(fd, 'closed', 'closed'))).toBe('forbidden_path')
    fs.closeSync(granted.openChild(fd, 'a', 'a'))
    fs.symlinkSync('a', join(folders.granted, 'link'))
    expect(getOutcome(() => granted.openChild(fd, 'link', 'link'))).toBe('not_a_folder')
    expect(getOutcome(() => granted.openChild(fd, 'none', 'none'))).toBe('not_found')
    for (const name of ['..', '.', '', 'a/b', '/etc'])
      expect(getOutcome(() => granted.openChild(fd, name, 'a'))).toBe('path_traversal')
    fs.closeSync(fd)
    expect(['closed', 'a/.env', 'a'].map(granted.isHidden)).toEqual([true, true, false])
  })

  test('GR6 answers no_grant for a path closed to this caller, by links and other spellings too', () => {
    fill(folders.granted, { 'mine/x': 'x', 'theirs/y': 'y', 'theirs-too/z': 'z' })
    fs.symlinkSync('theirs', join(folders.granted, 'link'))
    const restricted = roots.get('grant_1', ['theirs'])
    expect(read(restricted, 'mine/x')).toBe('x')
    expect(read(restricted, 'theirs-too/z')).toBe('z')
    for (const path of ['theirs/y', './theirs//y', 'link/y', 'Theirs/y', 'theirs'])
      expect(
        getOutcome(() => restricted.openFile(path)),
        path,
      ).toBe('no_grant')
    expect(restricted.isHidden('theirs/y')).toBe(true)
    const { fd } = restricted.openFolder('')
    expect(getOutcome(() => restricted.openChild(fd, 'theirs', 'theirs'))).toBe('no_grant')
    fs.closeSync(fd)
    expect(read(granted, 'theirs/y')).toBe('y')
    const parent = roots.get('grant_1', ['mine/x'])
    const moveFolder = () => parent.withParent('mine', () => 'moved', { need: 'write' })
    expect(getOutcome(moveFolder)).toBe('no_grant')
  })

  test('GR6 refuses to write in a read-only root', () => {
    const readOnly = reopen(pinnedRoot('grant_1', folders.granted, { access: 'read' }))
    expect(getOutcome(() => write(readOnly.get('grant_1'), 'x', 'x'))).toBe('read_only_grant')
    expect(getOutcome(() => readOnly.get('grant_2'))).toBe('no_grant')
  })

  test('F5 refuses forbidden extensions and writes risky files only after approval', () => {
    const workspace = roots.get('workspace')
    expect(getOutcome(() => write(workspace, 'x.exe', ''))).toBe('forbidden_extension')
    expect(getOutcome(() => write(workspace, 'x.sh', ''))).toBe('forbidden_extension')
    write(workspace, 'Code/bash/x.sh', '', true)
    fill(folders.granted, { 'run.sh': 'echo' })
    const changeScript = () => granted.withParent('run.sh', () => 'changed', { need: 'write' })
    expect(changeScript()).toBe('changed')
    fs.symlinkSync('new.sh', join(folders.granted, 'harmless.txt'))
    expect(getOutcome(() => write(granted, 'harmless.txt', ''))).toMatch(/forbidden_ext|not_found/)

    const writeHook = (reviewed: boolean) =>
      granted.withParent('.git/hooks/pre-commit', () => 'written', {
        need: 'write',
        parents: true,
        reviewed,
      })
    expect(getOutcome(() => writeHook(false))).toBe('forbidden_path')
    expect(fs.existsSync(join(folders.granted, '.git'))).toBe(false)
    expect(writeHook(true)).toBe('written')
    // Deleting a hook runs nothing.
    const deleteOptions = { need: 'delete', keepLeafLink: true } as const
    expect(granted.withParent('.git/hooks/pre-commit', () => 'gone', deleteOptions)).toBe('gone')
  })

  test('PV5 refuses to write a sensitive file through a link without approval', () => {
    fill(folders.granted, { 'server.pem': 'KEY' })
    fs.symlinkSync('server.pem', join(folders.granted, 'innocent.txt'))
    const change = (path: string, reviewed: boolean) =>
      granted.withParent(path, () => 'changed', { need: 'write', reviewed })
    expect(getOutcome(() => change('innocent.txt', false))).toBe('forbidden_path')
    expect(getOutcome(() => granted.openFile('innocent.txt', { write: true }))).toBe(
      'forbidden_path',
    )
    expect(change('server.pem', true)).toBe('changed')
    expect(read(granted, 'innocent.txt')).toBe('KEY')
  })

  test('F6 lets agents read .cowork/ in the workspace and only cowork write it', () => {
    fill(folders.workspace, { '.cowork/index.json': '{}' })
    const workspace = roots.get('workspace')
    expect(read(workspace, '.cowork/index.json')).toBe('{}')
    expect(getOutcome(() => write(workspace, '.cowork/x', ''))).toBe('forbidden_path')
    const options = { need: 'write', internal: true } as const
    expect(workspace.withParent('.cowork/index.json', () => 'written', options)).toBe('written')
  })

  test('GR6 opens a granted file and nothing beside it', () => {
    fill(folders.granted, { 'one.txt': 'one', 'two.txt': 'two' })
    const path = join(folders.granted, 'one.txt')
    const singleFile = reopen(pinnedRoot('grant_1', path, { kind: 'file' })).get('grant_1')
    expect(read(singleFile, '')).toBe('one')
    expect(singleFile.stat('').stat).toMatchObject({ type: 'file', size: 3 })
    for (const other of ['two.txt', '../two.txt', '.'])
      expect(getOutcome(() => singleFile.openFolder(other))).toMatch(/not_a_folder|path_traversal/)
    expect(getOutcome(() => singleFile.openFile('two.txt'))).toBe('not_a_folder')
    expect(getOutcome(() => singleFile.withParent('', () => undefined))).toBe('not_a_folder')

    const { fd } = singleFile.openFile('', { write: true })
    fs.writeSync(fd, 'ONE')
    fs.closeSync(fd)
    expect(fs.readFileSync(path, 'utf8')).toBe('ONE')
  })

  test('PV9 detects a replaced root, at the start and later', () => {
    fill(folders.granted, { 'x.txt': 'granted' })
    fs.renameSync(folders.granted, `${folders.granted}-away`)
    expect(getOutcome(() => granted.openFile('x.txt'))).toBe('root_replaced')
    fill(folders.granted, { 'x.txt': 'another' })
    expect(getOutcome(() => granted.openFile('x.txt'))).toBe('root_replaced')

    const reopened = openRoots(folders.setup, containment)
    expect(reopened.missing).toEqual([{ key: 'grant_1', code: 'root_replaced' }])
    expect(getOutcome(() => reopened.get('grant_1'))).toBe('root_replaced')
    reopened.close()
    fs.rmSync(folders.granted, { recursive: true })
    const missing = openRoots(folders.setup, containment)
    expect(missing.missing).toEqual([{ key: 'grant_1', code: 'not_found' }])
    missing.close()
  })

  test('PV9 refuses a root that became a link', () => {
    fs.rmdirSync(folders.granted)
    fs.symlinkSync(folders.outside, folders.granted)
    const linked = openRoots(folders.setup, containment)
    expect(linked.missing).toMatchObject([{ key: 'grant_1' }])
    linked.close()
  })

  test('PV9 refuses files and folders on a mount inside the root', () => {
    fill(folders.granted, { 'disk/x': 'below', 'a/x': 'x' })
    const disk = join(folders.granted, 'disk')
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', disk])
    try {
      fs.writeFileSync(join(disk, 'x'), 'mounted')
      expect(getOutcome(() => granted.openFile('disk/x'))).toBe('other_device')
      expect(getOutcome(() => granted.stat('disk/x'))).toBe('other_device')
      expect(getOutcome(() => granted.openFolder('disk'))).toBe('other_device')
      expect(getOutcome(() => write(granted, 'disk/y', ''))).toBe('other_device')
      expect(read(granted, 'a/x')).toBe('x')
    } finally {
      execFileSync('umount', [disk])
    }
  })
})

describe('the walk alone', () => {
  test('PV1 refuses a link that passes through a protected name', () => {
    const folders = testFolders()
    fill(folders.granted, { '.ssh/config': '', 'fine.txt': 'fine' })
    fs.symlinkSync('.ssh/../fine.txt', join(folders.granted, 'through'))
    const roots = openRoots(folders.setup)
    expect(getOutcome(() => roots.get('grant_1').openFile('through'))).toBe('forbidden_path')
    roots.close()
  })

  test('PV1 refuses a link of thousands of steps', () => {
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
    expect(getOutcome(() => granted.stat('a/link7'))).toBe('path_escape')
    roots.close()
  })

  test('PV9 refuses a bind mount inside the root although its device number is the same', () => {
    const folders = testFolders()
    fill(folders.granted, { 'shown/x': '' })
    const shown = join(folders.granted, 'shown')
    execFileSync('mount', ['--bind', folders.outside, shown])
    const roots = openRoots(folders.setup)
    try {
      const granted = roots.get('grant_1')
      expect(getOutcome(() => granted.openFile('shown/secret.txt'))).toBe('other_device')
      expect(getOutcome(() => granted.openFolder('shown'))).toBe('other_device')
      expect(getOutcome(() => write(granted, 'shown/new.txt', ''))).toBe('other_device')
    } finally {
      execFileSync('umount', [shown])
      roots.close()
    }
  })
})
