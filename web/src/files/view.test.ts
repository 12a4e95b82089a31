import { expect, test } from 'vitest'
import { parseFilesView, describeScope, listScopes, withoutFile } from './view.ts'

test('C1 the address of the Files screen says folder, file and search, and nothing it cannot mean', () => {
  const view = { path: 'Documents', open: 'Documents/a.md', q: 'offer', in: 'all', by: 'content' }
  expect(parseFilesView(view)).toEqual(view)
  expect(parseFilesView({ path: 7, open: '', q: '  ', in: 'moon', by: 'luck' })).toEqual({})
  expect(parseFilesView({ path: 'x'.repeat(4097) })).toEqual({})
  expect(withoutFile({ path: 'a', open: 'b' })).toEqual({ path: 'a' })
})

test('C5 FT6 one looks in the folder one is in, unless one chose a wider place', () => {
  expect(describeScope({ path: 'Documents/reports' })).toBe('in Documents/reports')
  expect(describeScope({ path: '/home/mara/Work', in: 'workspace' })).toBe('in the workspace')
  expect(describeScope({ path: '/home/mara/Work', in: 'granted' })).toBe('in granted paths')
  expect(describeScope({})).toBe('in the workspace')
  expect(listScopes({ path: 'Documents' }).map(({ name }) => name)).toEqual([
    'This folder',
    'Workspace',
    'Grants',
    'All',
  ])
  expect(listScopes({}).map(({ name }) => name)).toEqual(['Workspace', 'Grants', 'All'])
  expect(parseFilesView({ path: 'Documents', in: 'workspace' }).in).toBe('workspace')
  // The top of the workspace is the workspace.
  expect(parseFilesView({ in: 'workspace' })).toEqual({})
})
