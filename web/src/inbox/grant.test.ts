import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GrantRequest } from './approval.ts'
import { grantChoices, inDays, narrowestOf, untilOf } from './grant.ts'

const asked = (part: Partial<GrantRequest> = {}): GrantRequest => ({
  path: '/home/mara/Work/report.pdf',
  real: '/home/mara/Work/report.pdf',
  permission: 'read',
  is_folder: false,
  missing: false,
  folder: '/home/mara/Work',
  inside: null,
  sensitive: [],
  ...part,
})
const folder = { real: '/home/mara/Work', is_folder: true } as const

test('GR3 a person chooses among all that can be allowed, the narrowest first', () => {
  expect(grantChoices(asked()).map(({ label }) => label)).toEqual([
    'Allow this file once',
    'Allow this file',
    'Allow folder this session',
    'Allow until…',
    'Allow folder',
    'Allow folder (read-write)',
  ])
})

test('GR3 a request for a folder offers no file, and what is not there only its folder', () => {
  expect(grantChoices(asked(folder)).map(({ choice }) => choice)).toEqual([
    'folder_session',
    'until',
    'folder',
    'folder_write',
  ])
  expect(grantChoices(asked({ missing: true })).map(({ choice }) => choice)).toEqual([
    'folder_session',
    'folder',
    'folder_write',
  ])
  expect(grantChoices(asked({ missing: true, folder: null }))).toEqual([])
})

test('C2 what one key allows is never wider than what was asked', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<GrantRequest['permission']>('read', 'read-write'),
      fc.boolean(),
      fc.boolean(),
      (permission, isFolder, missing) => {
        const found = narrowestOf(asked({ permission, missing, ...(isFolder && folder) }))?.choice
        if (missing || (permission === 'read-write' && !isFolder)) expect(found).toBeUndefined()
        else if (permission === 'read')
          expect(found).toBe(isFolder ? 'folder_session' : 'file_once')
        else expect(found).toBe('folder_write')
      },
    ),
  )
})

test('GR3 until is a time to come', () => {
  const now = Date.parse('2026-11-15T12:00:00Z')
  expect(untilOf('', now)).toEqual({ lacks: 'Choose a time.' })
  expect(untilOf('2026-11-15T11:59:00Z', now)).toHaveProperty('lacks')
  expect(untilOf('2026-11-16T12:00:00Z', now)).toEqual({ until: '2026-11-16T12:00:00.000Z' })
  expect(untilOf(inDays(1, now), now)).toHaveProperty('until')
})
