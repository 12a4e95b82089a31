import fc from 'fast-check'
import { expect, test } from 'vitest'
import { candidateIds, isSessionActive, checkLink } from './rules.ts'
import type { Person } from './rules.ts'

const day = 24 * 60 * 60_000
const anna: Person = { id: 'anna', name: 'Anna', role: 'reviewer', joinedAt: 0 }
const session = { id: 's', person: 'anna', userAgent: '', createdAt: 0, lastSeenAt: 0 }

test('I6 a session is active until it ends, its person is removed or 30 days pass without use', () => {
  expect(isSessionActive({ session, person: anna }, 30 * day - 1)).toBe(true)
  expect(isSessionActive({ session, person: anna }, 30 * day)).toBe(false)
  expect(isSessionActive({ session: { ...session, endedAt: 1 }, person: anna }, 2)).toBe(false)
  expect(isSessionActive({ session, person: { ...anna, removedAt: 1 } }, 2)).toBe(false)
})

const times = { hash: 'h', createdAt: 0, expiresAt: 10 }
const open = { ...times, kind: 'open', person: 'anna' } as const
const invite = { ...times, kind: 'invite', name: 'N', role: 'viewer', invitedBy: 'anna' } as const

test.each([
  ['an open link in time', open, anna, undefined],
  ['no link', undefined, undefined, 'unknown_link'],
  ['a used link', { ...open, usedAt: 1 }, anna, 'used_link'],
  ['a used link, too late as well', { ...open, usedAt: 1, expiresAt: 2 }, anna, 'used_link'],
  ['a link at its last moment', { ...open, expiresAt: 5 }, anna, 'expired_link'],
  ['a link of someone removed', open, { ...anna, removedAt: 1 }, 'void_link'],
  ['a link of nobody', open, undefined, 'void_link'],
  ['an invitation by a reviewer', invite, anna, 'void_link'],
  ['an invitation by an owner', invite, { ...anna, role: 'owner' }, undefined],
  [
    'an invitation by an owner removed',
    invite,
    { ...anna, role: 'owner', removedAt: 1 },
    'void_link',
  ],
] as const)('I6 %s', (_, link, behind, fault) => {
  expect(checkLink(link, behind, 5)).toBe(fault)
})

test.each([
  ['Anna Berg', 'anna-berg'],
  ['  Zoë  O’Neil ', 'zoë-o-neil'],
  ['Анна', 'анна'],
  ['🦊', 'person'],
])('I6 %s becomes %s', (name, id) => {
  const ids = candidateIds(name)
  expect([ids.next().value, ids.next().value]).toEqual([id, `${id}-2`])
})

test('I6 any name gives short, distinct ids without spaces', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      const ids = candidateIds(name).take(5).toArray()
      expect(new Set(ids).size).toBe(5)
      for (const id of ids) expect(id).toMatch(/^[\p{L}\p{N}\p{M}-]{1,42}$/u)
    }),
  )
})
