import { expect, test } from 'vitest'
import { parseAllowance } from './approvals.ts'

const now = Date.parse('2026-03-01T10:00:00Z')

test.each([
  ['once', { for: 'once' }],
  ['session', { for: 'session' }],
  ['always', { for: 'always' }],
  ['uses:12', { for: 'uses', uses: 12 }],
  ['until:90m', { for: 'until', until: '2026-03-01T11:30:00.000Z' }],
  ['until:2d', { for: 'until', until: '2026-03-03T10:00:00.000Z' }],
  ['until:2026-03-01T18:00:00+02:00', { for: 'until', until: '2026-03-01T16:00:00.000Z' }],
])('Y8 --allow %s', (text, allowance) => {
  expect(parseAllowance(text, now)).toEqual(allowance)
})

test('Y8, GR9 a day ends at its end in local time', () => {
  const end = new Date(2026, 2, 4, 23, 59, 59).toISOString()
  expect(parseAllowance('until:2026-03-04', now)).toEqual({ for: 'until', until: end })
})

test.each([
  '',
  'forever',
  'uses:',
  'uses:0',
  'uses:-1',
  'uses:1e3',
  'uses:99999',
  'until:',
  'until:5',
  'until:tomorrow',
  'until:2026-13-01T00:00',
  'until:2026-13-01',
  'until:2026-02-27',
  'until:0h',
  'until:2026-02-28T00:00:00Z',
])('Y8, K3 --allow %j is a usage error, never a longer permission', (text) => {
  expect(() => parseAllowance(text, now)).toThrow(
    expect.objectContaining({ code: 'usage' }) as Error,
  )
})
