import { expect, test } from 'vitest'
import type { Grant } from './file.ts'
import {
  formatGrantee,
  isUnused,
  formatExpiry,
  describePermission,
  formatOrigin,
  getFolderAccess,
} from './grant.ts'

const now = Date.parse('2026-11-15T12:00:00Z')
const grant = (part: Partial<Grant> = {}): Grant => ({
  id: 'grant_1',
  agent: '*',
  path: '/home/mara/Work',
  kind: 'folder',
  permission: 'read',
  scope: 'permanent',
  session: null,
  hard_links: false,
  node: 'local',
  granted_at: '2026-01-01T00:00:00Z',
  granted_by: 'user_explicit',
  expires_at: null,
  last_accessed: null,
  access_count: 0,
  ...part,
})

test('GR4 a grant says for whom it is, how long it lasts and where it comes from', () => {
  expect([formatGrantee(grant()), formatGrantee(grant({ agent: 'codex' }))]).toEqual([
    'every agent',
    'codex',
  ])
  expect(formatExpiry(grant(), now)).toBe('until revoked')
  expect(formatExpiry(grant({ scope: 'session' }), now)).toBe('ends with its session')
  expect(formatExpiry(grant({ expires_at: '2026-11-15T13:00:00Z' }), now)).toBe('expires in 1 h')
  expect(formatOrigin(grant({ granted_by: 'import' }))).toBe('import')
})

test('GR4 what a grant means is a sentence, for a file, a folder and a denial', () => {
  expect(describePermission('*', 'read', 'this folder and all subfolders')).toBe(
    'Every agent can read this folder and all subfolders.',
  )
  expect(describePermission('codex', 'read-write')).toBe('codex can read and change this path.')
  expect(describePermission('*', 'deny')).toBe('Every agent is blocked.')
})

test('GR7 a lasting grant that nobody used for 60 days is pointed out', () => {
  expect(isUnused(grant(), now)).toBe(true)
  expect(isUnused(grant({ last_accessed: '2026-11-01T00:00:00Z' }), now)).toBe(false)
  expect(isUnused(grant({ last_accessed: '2026-09-01T00:00:00Z' }), now)).toBe(true)
  for (const part of [
    { scope: 'session' },
    { expires_at: '2027-01-01T00:00:00Z' },
    { permission: 'deny' },
  ] as const)
    expect(isUnused(grant(part), now)).toBe(false)
})

test('C9 GR6 a folder is open to all only by a lasting grant for all', () => {
  const { path } = grant()
  expect(getFolderAccess([grant()], path)).toEqual({ all: 'read', others: [] })
  expect(getFolderAccess([grant({ permission: 'deny' })], path).all).toBe('deny')
  for (const part of [{ scope: 'session' }, { replaced: true }] as const)
    expect(getFolderAccess([grant(part)], path).all).toBeUndefined()
  const single = [
    grant({ agent: 'codex' }),
    grant({ agent: 'gemini-cli', permission: 'deny' }),
    grant({ path: '/home/mara' }),
  ]
  expect(getFolderAccess(single, path)).toEqual({
    all: undefined,
    others: ['codex has access', 'blocked for gemini-cli'],
  })
})
