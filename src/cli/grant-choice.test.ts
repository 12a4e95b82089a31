import { expect, test } from 'vitest'
import { listGrantChoices, parseGrantChoice } from './approvals.ts'

const now = Date.parse('2026-03-01T10:00:00Z')

test.each([
  ['file_once', { choice: 'file_once' }],
  ['file', { choice: 'file' }],
  ['folder', { choice: 'folder' }],
  ['folder-write', { choice: 'folder_write' }],
  ['folder-session', { choice: 'folder_session' }],
  ['until:2h', { choice: 'until', until: '2026-03-01T12:00:00.000Z' }],
])('GR3 --allow %s', (text, choice) => {
  expect(parseGrantChoice(text, now)).toEqual(choice)
})

test.each([
  '',
  'always',
  'session',
  'write',
  'until',
  'until:',
  'until:1',
  'deny',
  'until:2025-01-01T00:00',
])('GR3, K3 --allow %j is a usage error, never a wider grant', (text) => {
  expect(() => parseGrantChoice(text, now)).toThrow(
    expect.objectContaining({ code: 'usage' }) as Error,
  )
})

test('GR3, C2 lists the narrowest choice first and never offers a folder as a file', () => {
  const grant = {
    path: '/a',
    real: '/a',
    permission: 'read',
    missing: false,
    folder: '/a',
    inside: null,
    sensitive: [],
  }
  expect(listGrantChoices({ grant: { ...grant, is_folder: false } })).toEqual([
    'file_once',
    'file',
    'folder_session',
    'until',
    'folder',
    'folder_write',
  ])
  expect(listGrantChoices({ grant: { ...grant, is_folder: true } })[0]).toBe('folder_session')
  const missing = { ...grant, is_folder: false, missing: true }
  expect(listGrantChoices({ grant: missing })).toEqual(['folder_session', 'folder', 'folder_write'])
  expect(listGrantChoices({ grant: { ...missing, folder: null } })).toEqual([])
})
