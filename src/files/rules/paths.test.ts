import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import {
  relativePath,
  checkName,
  resolveDestination,
  isWithin,
  pathPrefixes,
  parsePath,
} from './paths.ts'

const where = { home: '/home/me', workspace: '/home/me/AI', windows: false }
const read = (path: string) => parsePath(path, where)

function codeOf(act: () => unknown): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (error instanceof CoworkError) return error.code
    throw error
  }
}

test.each([
  ['notes.md', 'notes.md'],
  ['./Documents//notes/', 'Documents/notes'],
  ['', ''],
  ['.', ''],
  ['a..b.txt', 'a..b.txt'],
  ['...', '...'],
  ['%2e%2e/x', '%2e%2e/x'],
  ['..\\..\\x', '..\\..\\x'],
  ['．．/x', '．．/x'],
  [' x ', ' x '],
  ['http://x/y', 'http:/x/y'],
  ['~/AI/notes.md', 'notes.md'],
  ['/home/me/AI/notes.md', 'notes.md'],
  ['/home/me/AI', ''],
  ['./~draft', '~draft'],
  ['./C:\\x.txt', 'C:\\x.txt'],
  ['Documents\\win.md', 'Documents\\win.md'],
  ['c:x', 'c:x'],
])('PV2 %j is in the workspace as %j', (given, path) => {
  expect(read(given)).toEqual({ area: 'workspace', path })
})

test('F2 a workspace that config names over a link is the workspace by that name as well', () => {
  const linked = { ...where, given: '/mnt/link' }
  expect(parsePath('/mnt/link/a/b', linked)).toEqual({ area: 'workspace', path: 'a/b' })
  expect(parsePath('/mnt/link', linked)).toEqual({ area: 'workspace', path: '' })
  expect(parsePath('/mnt/link-evil/a', linked)).toMatchObject({ area: 'absolute' })
})

test('PV2 below a folder names are parted by slashes, and a backslash is a letter only where it is one', () => {
  expect(relativePath('/home/me/a/b\\c', '/home/me')).toBe('a/b\\c')
  expect(relativePath('C:\\Users\\me\\a\\b', 'C:\\Users')).toBe('me/a/b')
  expect(relativePath('C:\\a', 'C:\\')).toBe('a')
  expect(relativePath('/a', '/')).toBe('a')
})

test.each([
  ['/home/me/report.pdf', '/home/me/report.pdf'],
  ['~', '/home/me'],
  ['~/Documents/', '/home/me/Documents'],
  ['/', '/'],
  ['//srv/./data', '/srv/data'],
  ['/home/me/AI-evil/x', '/home/me/AI-evil/x'],
  ['/home/me/AI /x', '/home/me/AI /x'],
  ["/home/me/AI'", "/home/me/AI'"],
  ['/home/me/ai', '/home/me/ai'],
])(
  'PV2 %j is the absolute path %j: a sibling that starts alike is not the workspace',
  (given, path) => {
    expect(read(given)).toEqual({ area: 'absolute', path })
  },
)

test.each([
  ['../x', 'path_traversal'],
  ['a/../../x', 'path_traversal'],
  ['/home/me/AI/../x', 'path_traversal'],
  ['~/..', 'path_traversal'],
  ['x/..', 'path_traversal'],
  ['a\0b', 'invalid_path'],
  ['file:///etc/passwd', 'invalid_path'],
  ['FILE://x', 'invalid_path'],
  ['~root/x', 'invalid_path'],
  ['~$draft.docx', 'invalid_path'],
  ['x'.repeat(256), 'invalid_path'],
  ['ä'.repeat(128), 'invalid_path'],
  ['x/'.repeat(2049), 'invalid_path'],
  ['\ud800', 'invalid_path'],
  ['CON', 'invalid_path'],
  ['a/nul.txt', 'invalid_path'],
  ['Com1', 'invalid_path'],
  ['lpt9 .log', 'invalid_path'],
  ['C:\\Users\\me\\Documents', 'invalid_path'],
  ['d:/x.txt', 'invalid_path'],
])('PV2 %j is refused as %s', (given, code) => {
  expect(codeOf(() => read(given))).toBe(code)
})

test('PV2 the longest name and path that disks take are fine, and a name that only begins like a device', () => {
  expect(codeOf(() => read('x'.repeat(255)))).toBeUndefined()
  expect(codeOf(() => read(`${'x/'.repeat(2047)}yz`))).toBeUndefined()
  expect(codeOf(() => checkName('console.log'))).toBeUndefined()
  expect(codeOf(() => checkName('com10'))).toBeUndefined()
})

test('PV2 on Windows backslashes separate, and only plain paths with a drive are absolute', () => {
  const there = { home: 'C:\\Users\\me', workspace: 'C:\\Users\\me\\AI', windows: true }
  const on = (path: string) => parsePath(path, there)
  expect(on('a\\b.txt')).toEqual({ area: 'workspace', path: 'a/b.txt' })
  expect(on('C:\\Users\\me\\AI\\b.txt')).toEqual({ area: 'workspace', path: 'b.txt' })
  expect(on('C:/Data/b.txt')).toEqual({ area: 'absolute', path: 'C:\\Data\\b.txt' })
  expect(codeOf(() => on('..\\x'))).toBe('path_traversal')
  for (const path of ['\\\\?\\C:\\x', '\\\\localhost\\c$\\x', 'C:x', '//server/share'])
    expect(codeOf(() => on(path))).toBe('invalid_path')
})

const name = fc.constantFrom(
  'a',
  'b',
  '..',
  '.',
  '',
  'a..b',
  '%2e%2e',
  '~',
  'AI',
  '..\\',
  ' ..',
  '.. ',
)
const path = fc
  .tuple(fc.constantFrom('', '/', '~/', '/home/me/AI/', './'), fc.array(name, { maxLength: 6 }))
  .map(([start, names]) => start + names.join('/'))

test('PV2 whatever is understood has no way up left in it and says where it lies', () => {
  fc.assert(
    fc.property(path, (given) => {
      let found
      try {
        found = read(given)
      } catch {
        expect(given).toMatch(/(^|\/)\.\.(\/|$)|^~[^/]/)
        return
      }
      const names = found.path.split('/')
      expect(names).not.toContain('..')
      if (found.area === 'workspace') expect(found.path).not.toMatch(/^\//)
      else {
        expect(found.path).toMatch(/^\//)
        expect(isWithin(found.path, where.workspace)).toBe(false)
      }
    }),
  )
})

test('FT5 a destination that ends in a slash is a folder, and what comes into it keeps its name', () => {
  expect(resolveDestination('b.txt', 'x/a.txt', false)).toBe('b.txt')
  expect(resolveDestination('b/', 'x/a.txt', false)).toBe('b/a.txt')
  expect(resolveDestination('~/b/', '/x/folder/', false)).toBe('~/b/folder')
  expect(resolveDestination('b/', '', false)).toBe('b/')
  expect(resolveDestination('b\\', 'x/a.txt', false)).toBe('b\\')
  expect(resolveDestination('C:\\b\\', 'x\\a.txt', true)).toBe('C:\\b\\a.txt')
})

test.each([
  ['', ['']],
  ['/home/me/Doc', ['/home/me/Doc']],
  ['/home/me/AI/', ['/home/me/AI/']],
  ['~/Doc/', ['~/Doc/', '/home/me/Doc/']],
  ['Documents/no', ['Documents/no', '/home/me/AI/Documents/no']],
  ['../x', ['../x']],
])('L10 a filter of %j finds what begins with %j', (given, prefixes) => {
  expect(pathPrefixes(given, where)).toEqual(prefixes)
})

test('PV2 a path lies within itself and its folders, and in no other', () => {
  expect(isWithin('/a/b', '/a/b')).toBe(true)
  expect(isWithin('/a/b/c', '/a/b')).toBe(true)
  expect(isWithin('/a', '/')).toBe(true)
  expect(isWithin('/a/bc', '/a/b')).toBe(false)
  expect(isWithin('/a', '/a/b')).toBe(false)
  expect(isWithin('C:\\a\\b', 'C:\\a')).toBe(true)
})
