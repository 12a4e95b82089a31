import { expect, test } from 'vitest'
import { formatAllowance, parseAllowForm, isExact, toPatterns } from './permission.ts'

const now = Date.parse('2026-11-15T12:00:00Z')
const exact = toPatterns({ to: 'ops@example.com', options: { track: false, at: 2 } })
const form = { for: 'once', uses: '10', until: '', patterns: exact } as const

test('Y8 the arguments of a call become editable patterns', () => {
  expect(exact).toEqual({ to: 'ops@example.com', options: '{"at":2,"track":false}' })
  expect(toPatterns(null)).toEqual({})
  expect(toPatterns(['a'])).toEqual({})
})

test('Y8 unchanged patterns match exactly, changed ones match their pattern', () => {
  expect(parseAllowForm({ ...form, for: 'session' }, exact, now)).toEqual({
    allow: { for: 'session' },
  })
  const patterns = { ...exact, to: '*@example.com' }
  expect(isExact(patterns, exact)).toBe(false)
  expect(parseAllowForm({ ...form, for: 'always', patterns }, exact, now)).toEqual({
    allow: { for: 'always', arguments: { to: '*@example.com' }, rest: 'exact' },
  })
  expect(parseAllowForm({ ...form, patterns }, exact, now)).toEqual({ allow: { for: 'once' } })
})

test('Y8 uses need a number, and the time must be in the future', () => {
  const asked = (part: object) => parseAllowForm({ ...form, ...part }, exact, now)
  expect(asked({ for: 'uses', uses: '3' })).toEqual({ allow: { for: 'uses', uses: 3 } })
  for (const uses of ['', '0', '-1', '2.5', 'many', '1001'])
    expect(asked({ for: 'uses', uses }), uses).toHaveProperty('lacks')
  expect(asked({ for: 'until', until: '2026-11-15T18:00:00Z' })).toEqual({
    allow: { for: 'until', until: '2026-11-15T18:00:00.000Z' },
  })
  for (const until of ['', '2026-11-15T11:00:00Z'])
    expect(asked({ for: 'until', until }), until).toHaveProperty('lacks')
})

test('Y8 a * written by the agent is not a pattern', () => {
  const list = toPatterns({ path: 'notes/a.md', content: '* milk' })
  const patterns = { ...list, path: 'notes/*' }
  expect(parseAllowForm({ ...form, for: 'always', patterns }, list, now)).toEqual({
    allow: { for: 'always', arguments: { path: 'notes/*' }, rest: 'exact' },
  })
})

test('Y8 a changed pattern that is too long is rejected', () => {
  const long = { body: 'x'.repeat(1001), to: 'ops' }
  const asked = (patterns: Record<string, string>) =>
    parseAllowForm({ ...form, for: 'always', patterns }, long, now)
  expect(asked(long)).toEqual({ allow: { for: 'always' } })
  expect(asked({ ...long, to: '*' })).toHaveProperty('allow')
  expect(asked({ ...long, body: `${long.body}*` })).toHaveProperty('lacks')
  expect(asked({ body: 'x*', to: '*' })).toHaveProperty('allow')
})

test('Y8 the duration is formatted', () => {
  expect(formatAllowance({ ...form, for: 'uses' })).toBe('10 times')
  expect(formatAllowance({ ...form, for: 'always' })).toBe('until you revoke it')
})
