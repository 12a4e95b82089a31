import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GrantRequest } from './approval.ts'
import { item } from './approval.fixture.ts'
import {
  summarizeAccess,
  commonAccess,
  grantChoices,
  describeContents,
  dateInDays,
  narrowestChoice,
  parseUntil,
} from './grant.ts'

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

const request = (what: string, target: string) =>
  item({ kind: 'grant', target, summary: `AI wants to ${what}: ${target}` })

test('C2 a row shows a short access request with a separate path', () => {
  const row = (what: string, path: string) => summarizeAccess(request(what, path))
  expect(row('read files in', '/home/mara/Work')).toEqual({ says: 'Read', path: '/home/mara/Work' })
  expect(row('read and write files in', '/a: b')).toEqual({ says: 'Read and write', path: '/a: b' })
  expect(row('read your whole home', '/home/mara')?.says).toBe('Read your whole home:')
  // Other summaries are not shortened.
  expect(row('see', '/home/mara')).toBeUndefined()
  expect(summarizeAccess(item({ summary: 'AI wants to read files in: /x' }))).toBeUndefined()
})

test('C2 a group of access requests shows the common folder', () => {
  const reads = (...paths: string[]) =>
    commonAccess(paths.map((path) => request('read files in', path)))
  expect(reads('/home/mara/a/x', '/home/mara/a/y')).toEqual({
    says: 'Read in',
    path: '/home/mara/a',
  })
  expect(reads('/home/mara', '/srv')).toEqual({ says: 'Read in several folders', path: '' })
  expect(commonAccess([request('read files in', '/a'), item()])).toBeUndefined()
})

test('C2 GR3 a row describes the contents', () => {
  const inside = { files: 38, folders: 2, bytes: 1, sample: [], capped: false }
  const sensitive = ['.env', 'id_rsa']
  expect(describeContents(asked({ ...folder, inside, sensitive }))).toEqual([
    '38 files',
    '2 sensitive names',
  ])
  expect(describeContents(asked({ ...folder, inside: { ...inside, capped: true } }))).toEqual([
    'at least 38 files',
  ])
  expect(describeContents(asked({ sensitive: ['id_rsa'] }))).toEqual(['a file', '1 sensitive name'])
  expect(describeContents(asked({ missing: true }))).toEqual(['not found'])
  expect(describeContents(asked(folder))).toEqual([])
})

test('GR3 folder choices cover later files, file choices name the file', () => {
  for (const { choice, opens, also } of grantChoices(asked())) {
    expect([choice, also !== undefined]).toEqual([choice, choice.startsWith('folder')])
    expect([choice, opens.includes('everything in')]).toEqual([choice, also !== undefined])
  }
  for (const { also } of grantChoices(asked(folder))) expect(also).toMatch(/now.*later/)
})

test('GR3 all choices are offered, narrowest first', () => {
  expect(grantChoices(asked()).map(({ label }) => label)).toEqual([
    'Allow Once',
    'Allow This File',
    'Allow folder this session',
    'Allow until…',
    'Allow Folder',
    'Allow Folder (Read-Write)',
  ])
})

test('GR3 a folder request offers no file choices, a missing path only its folder', () => {
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

test('C2 the approve key never grants more than requested', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<GrantRequest['permission']>('read', 'read-write'),
      fc.boolean(),
      fc.boolean(),
      (permission, isFolder, missing) => {
        const found = narrowestChoice(
          asked({ permission, missing, ...(isFolder && folder) }),
        )?.choice
        if (missing || (permission === 'read-write' && !isFolder)) expect(found).toBeUndefined()
        else if (permission === 'read')
          expect(found).toBe(isFolder ? 'folder_session' : 'file_once')
        else expect(found).toBe('folder_write')
      },
    ),
  )
})

test('GR3 until must be in the future', () => {
  const now = Date.parse('2026-11-15T12:00:00Z')
  expect(parseUntil('', now)).toEqual({ lacks: 'Choose a time.' })
  expect(parseUntil('2026-11-15T11:59:00Z', now)).toHaveProperty('lacks')
  expect(parseUntil('2026-11-16T12:00:00Z', now)).toEqual({ until: '2026-11-16T12:00:00.000Z' })
  expect(parseUntil(dateInDays(1, now), now)).toHaveProperty('until')
})
