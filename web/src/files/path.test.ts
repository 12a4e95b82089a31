import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  commonFolder,
  buildCrumbs,
  splitForEllipsis,
  nextFreeName,
  abbreviateHome,
  joinPath,
  isInside,
  baseName,
  parentPath,
  relativeTo,
  shortenCrumbs,
} from './path.ts'
import { formatSize } from './byte-size.ts'

const name = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => !/[/:]/.test(text))
const folder = fc.oneof(
  fc.array(name, { maxLength: 4 }).map((names) => names.join('/')),
  fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join('/')}`),
)

test('C5 a name put into a folder is found there again', () => {
  fc.assert(
    fc.property(folder, name, (at, file) => {
      const path = joinPath(at, file)
      expect(baseName(path)).toBe(file)
      expect(parentPath(path)).toBe(at)
      expect(isInside(path, at === '' ? file : at)).toBe(true)
    }),
  )
  expect(parentPath('/notes.md')).toBe('/')
  expect(parentPath('Documents/reports/')).toBe('Documents')
  expect(parentPath('C:\\Users\\mara')).toBe('C:\\Users')
})

test('C5 the way to a folder begins at the workspace, or at the grant', () => {
  expect(buildCrumbs('Documents/reports', '').map(({ name: each, path }) => [each, path])).toEqual([
    ['Workspace', ''],
    ['Documents', 'Documents'],
    ['reports', 'Documents/reports'],
  ])
  expect(buildCrumbs('/home/mara/Work/2026', '/home/mara/Work').map(({ path }) => path)).toEqual([
    '/home/mara/Work',
    '/home/mara/Work/2026',
  ])
})

test('C11 a long way is shown by where it begins and its last two folders', () => {
  const named = (path: string) => {
    const { first, hidden, last } = shortenCrumbs(buildCrumbs(path, ''))
    return [[first], hidden, last].map((crumbs) => crumbs.map(({ name: each }) => each))
  }
  expect(named('a/b/c/d/e')).toEqual([['Workspace'], ['a', 'b', 'c'], ['d', 'e']])
  expect(named('a/b/c')).toEqual([['Workspace'], [], ['a', 'b', 'c']])
  expect(named('')).toEqual([['Workspace'], [], []])
})

test('PV8 a backslash is part of a name, but for the paths of Windows', () => {
  expect(baseName('Documents/a\\b.txt')).toBe('a\\b.txt')
  expect(baseName('folder\\/')).toBe('folder\\')
  expect(buildCrumbs('a\\b/c', '').map(({ name: each }) => each)).toEqual([
    'Workspace',
    'a\\b',
    'c',
  ])
  expect(baseName('C:\\Users\\mara\\')).toBe('mara')
  expect(buildCrumbs('C:\\Work\\2026', 'C:\\Work').at(-1)?.path).toBe('C:\\Work\\2026')
})

test('C5 a folder with a longer name is another folder', () => {
  expect(isInside('/home/mara-old/x', '/home/mara')).toBe(false)
  expect(isInside('/home/mara/', '/home/mara')).toBe(true)
  expect(relativeTo('/w/ws/', '/w/ws/Documents/a.md')).toBe('Documents/a.md')
  expect(relativeTo('/w/ws', '/w/ws-evil/a.md')).toBe('/w/ws-evil/a.md')
})

test('GR10 where a name is taken, the next one is tried', () => {
  expect([1, 2, 3].map((attempt) => nextFreeName('notes.md', attempt))).toEqual([
    'notes.md',
    'notes (2).md',
    'notes (3).md',
  ])
  expect(nextFreeName('.gitignore', 2)).toBe('.gitignore (2)')
  expect(nextFreeName('LICENSE', 2)).toBe('LICENSE (2)')
})

test('C5 sizes have three digits at most', () => {
  const sizes = [0, 12, 999, 1000, 1234, 99_950, 999_499, 999_500, 3_400_000, 5e12].map(formatSize)
  expect(sizes).toEqual([
    '0 B',
    '12 B',
    '999 B',
    '1 kB',
    '1.2 kB',
    '100 kB',
    '999 kB',
    '1 MB',
    '3.4 MB',
    '5 TB',
  ])
})

test('C2 a path in the home begins with ~, and no other does', () => {
  expect(abbreviateHome('/home/mara/Work/plan.md', '/home/mara')).toBe('~/Work/plan.md')
  expect(abbreviateHome('/home/mara', '/home/mara/')).toBe('~')
  expect(abbreviateHome('C:\\Users\\mara\\Work', 'C:\\Users\\mara')).toBe('~\\Work')
  for (const home of ['/home/mar', '/home/mara/Work', undefined])
    expect(abbreviateHome('/home/mara', home)).toBe('/home/mara')
})

test('C2 a path is cut before its end, and no letter of it is lost', () => {
  expect(splitForEllipsis('/home/mara/Work/laser/')).toEqual({
    head: '/home/mara',
    end: '/Work/laser/',
  })
  expect(splitForEllipsis('~/Work')).toEqual({ head: '', end: '~/Work' })
  expect(splitForEllipsis('/Work/laser')).toEqual({ head: '', end: '/Work/laser' })
  expect(splitForEllipsis('/')).toEqual({ head: '', end: '/' })
  fc.assert(
    fc.property(folder, (path) => {
      const { head, end } = splitForEllipsis(path)
      expect(head + end).toBe(path)
    }),
  )
})

test('C2 paths have a folder in common that holds each of them, or none', () => {
  expect(commonFolder(['/home/mara/a/x', '/home/mara/b'])).toBe('/home/mara')
  expect(commonFolder(['/home/mara', '/home/mara/b'])).toBe('/home/mara')
  expect(commonFolder(['/home/mara', '/home/mara-old'])).toBe('/home')
  expect(commonFolder(['/home/mara', '/srv'])).toBe('')
  expect(commonFolder(['C:\\a\\b', 'D:\\a'])).toBe('')
  fc.assert(
    fc.property(fc.array(folder, { minLength: 1, maxLength: 4 }), (paths) => {
      const found = commonFolder(paths)
      if (found !== '') for (const path of paths) expect(isInside(path, found)).toBe(true)
    }),
  )
})
