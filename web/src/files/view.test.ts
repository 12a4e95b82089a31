import { expect, test } from 'vitest'
import { filesViewOf, withoutFile } from './view.ts'

test('C1 the address of the Files screen says folder, file and search, and nothing it cannot mean', () => {
  const view = { path: 'Documents', open: 'Documents/a.md', q: 'offer', in: 'all', by: 'content' }
  expect(filesViewOf(view)).toEqual(view)
  expect(filesViewOf({ path: 7, open: '', q: '  ', in: 'moon', by: 'luck' })).toEqual({})
  expect(filesViewOf({ path: 'x'.repeat(4097) })).toEqual({})
  expect(withoutFile({ path: 'a', open: 'b' })).toEqual({ path: 'a' })
})
