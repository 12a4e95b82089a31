import { expect, test } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import { toGrant, narrowestChoice } from './choices.ts'
import type { RequestedAccess, GrantChoice, Pin } from './choices.ts'

const folder: Pin = { path: '/d', kind: 'folder', dev: '1', ino: '10' }
const file: Pin = { path: '/d/f.txt', kind: 'file', dev: '1', ino: '11' }
const asked = (more: Partial<RequestedAccess> = {}): RequestedAccess => ({
  permission: 'read',
  real: file.path,
  pin: file,
  folderPin: folder,
  session: 's1',
  ...more,
})
const ofFolder = asked({ real: folder.path, pin: folder })
const ofNothing = asked({ real: '/d/none', pin: null })
const until = '2027-01-31T18:00:00Z'
const now = Date.parse('2027-01-01T00:00:00Z')
const chosen = (choice: GrantChoice, given = asked()) => toGrant(choice, given, { until, now })

function codeOf(act: () => unknown) {
  try {
    act()
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
] as const)('GR3 %s for a file makes this grant', (choice, expected) => {
  expect(chosen(choice)).toMatchObject(expected)
})

test('GR3 folder means the requested folder itself', () => {
  expect(chosen('folder', ofFolder)).toMatchObject(folder)
  expect(codeOf(() => chosen('file', ofFolder))).toBe('invalid_input')
  expect(codeOf(() => chosen('file_once', ofFolder))).toBe('invalid_input')
})

test('GR3 until gives what was asked for, for as long as was said', () => {
  expect(chosen('until', asked({ permission: 'read-write' }))).toMatchObject({
    ...file,
    permission: 'read-write',
  })
  expect(codeOf(() => toGrant('until', asked(), { now }))).toBe('invalid_input')
  expect(codeOf(() => toGrant('until', asked(), { until: '2026-01-01T00:00:00Z', now }))).toBe(
    'invalid_input',
  )
})

test('GR3 of what is not there only the folder around can be allowed, and all of it denied', () => {
  for (const choice of ['file_once', 'file', 'until'] as const)
    expect(codeOf(() => chosen(choice, ofNothing))).toBe('not_found')
  expect(chosen('folder', ofNothing)).toMatchObject(folder)
  expect(codeOf(() => chosen('folder', { ...ofNothing, folderPin: null }))).toBe('not_found')
  expect(chosen('deny_always', ofNothing)).toMatchObject({
    path: '/d/none',
    kind: 'folder',
    permission: 'deny',
  })
})

test('GR3 without a choice it is the narrowest that gives what was asked, and never a wider place', () => {
  expect(narrowestChoice(asked())).toBe('file_once')
  expect(narrowestChoice(ofFolder)).toBe('folder_session')
  expect(narrowestChoice({ ...ofFolder, permission: 'read-write' })).toBe('folder_write')
  expect(codeOf(() => narrowestChoice(asked({ permission: 'read-write' })))).toBe('invalid_input')
  expect(codeOf(() => narrowestChoice(ofNothing))).toBe('not_found')
})
