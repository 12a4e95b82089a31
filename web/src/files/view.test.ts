import { expect, test } from 'vitest'
import { filesViewOf, placeOf, scopesOf, withoutFile } from './view.ts'

test('C1 the address of the Files screen says folder, file and search, and nothing it cannot mean', () => {
  const view = { path: 'Documents', open: 'Documents/a.md', q: 'offer', in: 'all', by: 'content' }
  expect(filesViewOf(view)).toEqual(view)
  expect(filesViewOf({ path: 7, open: '', q: '  ', in: 'moon', by: 'luck' })).toEqual({})
  expect(filesViewOf({ path: 'x'.repeat(4097) })).toEqual({})
  expect(withoutFile({ path: 'a', open: 'b' })).toEqual({ path: 'a' })
})

test('C5 FT6 one looks in the folder one is in, unless one chose a wider place', () => {
  expect(placeOf({ path: 'Documents/reports' })).toBe('in Documents/reports')
  expect(placeOf({ path: '/home/mara/Work', in: 'workspace' })).toBe('in the workspace')
  expect(placeOf({ path: '/home/mara/Work', in: 'granted' })).toBe('in what is granted')
  expect(placeOf({})).toBe('in the workspace')
  expect(scopesOf({ path: 'Documents' }).map(({ name }) => name)).toEqual([
    'This folder',
    'Workspace',
    'Granted',
    'All',
  ])
  expect(scopesOf({}).map(({ name }) => name)).toEqual(['Workspace', 'Granted', 'All'])
  expect(filesViewOf({ path: 'Documents', in: 'workspace' }).in).toBe('workspace')
  // The top of the workspace is the workspace.
  expect(filesViewOf({ in: 'workspace' })).toEqual({})
})
