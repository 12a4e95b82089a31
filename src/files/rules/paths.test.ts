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

const context = { home: '/home/me', workspace: '/home/me/AI', windows: false }
const read = (path: string) => parsePath(path, context)

function getErrorCode(operation: () => unknown): string | undefined {
  try {
    operation()
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
])('PV2 parses %j as %j in the workspace', (given, path) => {
  expect(read(given)).toEqual({ area: 'workspace', path })
})

test('F2 recognizes the workspace by its configured path with links too', () => {
  const linked = { ...context, configuredPath: '/mnt/link' }
  expect(parsePath('/mnt/link/a/b', linked)).toEqual({ area: 'workspace', path: 'a/b' })
  expect(parsePath('/mnt/link', linked)).toEqual({ area: 'workspace', path: '' })
  expect(parsePath('/mnt/link-evil/a', linked)).toMatchObject({ area: 'absolute' })
})

test('PV2 relative paths use slashes, and keep a backslash that is part of a name', () => {
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
  'PV2 parses %j as the absolute path %j, also for siblings with the workspace as prefix',
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
])('PV2 refuses %j as %s', (given, code) => {
  expect(getErrorCode(() => read(given))).toBe(code)
})

test('PV2 accepts the longest name and path, and names that only start like a device', () => {
  expect(getErrorCode(() => read('x'.repeat(255)))).toBeUndefined()
  expect(getErrorCode(() => read(`${'x/'.repeat(2047)}yz`))).toBeUndefined()
  expect(getErrorCode(() => checkName('console.log'))).toBeUndefined()
  expect(getErrorCode(() => checkName('com10'))).toBeUndefined()
})

test('PV2 on Windows, splits at backslashes and accepts only drive paths as absolute', () => {
  const windowsContext = { home: 'C:\\Users\\me', workspace: 'C:\\Users\\me\\AI', windows: true }
  const parse = (path: string) => parsePath(path, windowsContext)
  expect(parse('a\\b.txt')).toEqual({ area: 'workspace', path: 'a/b.txt' })
  expect(parse('C:\\Users\\me\\AI\\b.txt')).toEqual({ area: 'workspace', path: 'b.txt' })
  expect(parse('C:/Data/b.txt')).toEqual({ area: 'absolute', path: 'C:\\Data\\b.txt' })
  expect(getErrorCode(() => parse('..\\x'))).toBe('path_traversal')
  for (const path of ['\\\\?\\C:\\x', '\\\\localhost\\c$\\x', 'C:x', '//server/share'])
    expect(getErrorCode(() => parse(path))).toBe('invalid_path')
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

test('PV2 a parsed path contains no `..` and names its area', () => {
  fc.assert(
    fc.property(path, (given) => {
      let parsed
      try {
        parsed = read(given)
      } catch {
        expect(given).toMatch(/(^|\/)\.\.(\/|$)|^~[^/]/)
        return
      }
      const names = parsed.path.split('/')
      expect(names).not.toContain('..')
      if (parsed.area === 'workspace') expect(parsed.path).not.toMatch(/^\//)
      else {
        expect(parsed.path).toMatch(/^\//)
        expect(isWithin(parsed.path, context.workspace)).toBe(false)
      }
    }),
  )
})

test('FT5 a destination that ends in a slash is a folder, and the source keeps its name in it', () => {
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
])('L10 a filter of %j matches the prefixes %j', (given, prefixes) => {
  expect(pathPrefixes(given, context)).toEqual(prefixes)
})

test('PV2 a path is within itself and its parents, and within no other folder', () => {
  expect(isWithin('/a/b', '/a/b')).toBe(true)
  expect(isWithin('/a/b/c', '/a/b')).toBe(true)
  expect(isWithin('/a', '/')).toBe(true)
  expect(isWithin('/a/bc', '/a/b')).toBe(false)
  expect(isWithin('/a', '/a/b')).toBe(false)
  expect(isWithin('C:\\a\\b', 'C:\\a')).toBe(true)
})
