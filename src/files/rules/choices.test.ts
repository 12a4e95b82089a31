import { expect, test } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import { toGrant, narrowestChoice } from './choices.ts'
import type { RequestedAccess, GrantChoice, Pin } from './choices.ts'

const folder: Pin = { path: '/d', kind: 'folder', dev: '1', ino: '10' }
const file: Pin = { path: '/d/f.txt', kind: 'file', dev: '1', ino: '11' }
const request = (overrides: Partial<RequestedAccess> = {}): RequestedAccess => ({
  permission: 'read',
  real: file.path,
  pin: file,
  folderPin: folder,
  session: 's1',
  ...overrides,
})
const folderRequest = request({ real: folder.path, pin: folder })
const missingRequest = request({ real: '/d/none', pin: null })
const until = '2027-01-31T18:00:00Z'
const now = Date.parse('2027-01-01T00:00:00Z')
const grantFor = (choice: GrantChoice, input = request()) => toGrant(choice, input, { until, now })

function getErrorCode(operation: () => unknown) {
  try {
    operation()
    return undefined
  } catch (error) {
    return error instanceof CoworkError ? error.code : error
  }
}

test.each([
  ['file_once', { ...file, permission: 'read', scope: 'session', session: 's1', expiresAt: null }],
  ['file', { ...file, permission: 'read', scope: 'permanent', session: null, expiresAt: null }],
  ['folder', { ...folder, permission: 'read', scope: 'permanent', session: null }],
  ['folder_write', { ...folder, permission: 'read-write', scope: 'permanent' }],
  ['folder_session', { ...folder, permission: 'read', scope: 'session', session: 's1' }],
  ['until', { ...file, permission: 'read', scope: 'permanent', expiresAt: Date.parse(until) }],
  ['deny_always', { ...file, permission: 'deny', scope: 'permanent', expiresAt: null }],
] as const)('GR3 creates this grant for choice %s of a file', (choice, expected) => {
  expect(grantFor(choice)).toMatchObject(expected)
})

test('GR3 folder means the requested folder itself', () => {
  expect(grantFor('folder', folderRequest)).toMatchObject(folder)
  expect(getErrorCode(() => grantFor('file', folderRequest))).toBe('invalid_input')
  expect(getErrorCode(() => grantFor('file_once', folderRequest))).toBe('invalid_input')
})

test('GR3 until grants the requested access until the given time', () => {
  expect(grantFor('until', request({ permission: 'read-write' }))).toMatchObject({
    ...file,
    permission: 'read-write',
  })
  expect(getErrorCode(() => toGrant('until', request(), { now }))).toBe('invalid_input')
  expect(
    getErrorCode(() => toGrant('until', request(), { until: '2026-01-01T00:00:00Z', now })),
  ).toBe('invalid_input')
})

test('GR3 allows only the parent folder of a missing path, and denies all of it', () => {
  for (const choice of ['file_once', 'file', 'until'] as const)
    expect(getErrorCode(() => grantFor(choice, missingRequest))).toBe('not_found')
  expect(grantFor('folder', missingRequest)).toMatchObject(folder)
  expect(getErrorCode(() => grantFor('folder', { ...missingRequest, folderPin: null }))).toBe(
    'not_found',
  )
  expect(grantFor('deny_always', missingRequest)).toMatchObject({
    path: '/d/none',
    kind: 'folder',
    permission: 'deny',
  })
})

test('GR3 defaults to the narrowest choice that covers the request, and never to a wider path', () => {
  expect(narrowestChoice(request())).toBe('file_once')
  expect(narrowestChoice(folderRequest)).toBe('folder_session')
  expect(narrowestChoice({ ...folderRequest, permission: 'read-write' })).toBe('folder_write')
  expect(getErrorCode(() => narrowestChoice(request({ permission: 'read-write' })))).toBe(
    'invalid_input',
  )
  expect(getErrorCode(() => narrowestChoice(missingRequest))).toBe('not_found')
})
