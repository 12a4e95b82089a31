import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from '#ledger'
import { restoreEdit } from './restore.ts'

const redact = createRedactor({ secrets: ['known-secret'], patterns: [] })
const restored = (real: unknown, edited: (shown: unknown) => unknown) =>
  restoreEdit(real, redact(real), edited(redact(real)), (name) => redact(name))
const mark = '[redacted]'

test.each<[string, unknown, unknown, unknown]>([
  ['a field', { password: 'a', n: 1 }, { password: mark, n: 2 }, { password: 'a', n: 2 }],
  ['a new value', { password: 'a' }, { password: 'b' }, { password: 'b' }],
  ['a removed field', { password: 'a', n: 1 }, { n: 1 }, { n: 1 }],
  [
    'a field inside',
    { to: { token: 't', at: 'x' } },
    { to: { token: mark, at: 'y' } },
    { to: { token: 't', at: 'y' } },
  ],
  [
    'a text',
    { n: 1, cmd: 'secret=abc' },
    { n: 2, cmd: `secret=${mark}` },
    { n: 2, cmd: 'secret=abc' },
  ],
  [
    'items of the same number',
    [{ token: 'a' }, { token: 'b', n: 1 }],
    [{ token: mark }, { token: mark, n: 2 }],
    [{ token: 'a' }, { token: 'b', n: 2 }],
  ],
  [
    'an item less',
    [
      { token: 'a', n: 1 },
      { token: 'b', n: 2 },
    ],
    [{ token: mark, n: 2 }],
    [{ token: 'b', n: 2 }],
  ],
  ['a name', { 'known-secret': 1, n: 1 }, { [mark]: 2, n: 1 }, { 'known-secret': 2, n: 1 }],
  ['a mark of the agent', { n: `say ${mark}` }, { n: `do say ${mark}` }, { n: `do say ${mark}` }],
])('RS7 B3 an edit applies to the real arguments: %s', (_, real, edited, expected) => {
  expect(restored(real, () => edited)).toEqual(expected)
})

test.each<[string, unknown, unknown]>([
  ['part of a text', { cmd: 'secret=abc go' }, { cmd: `secret=${mark} stop` }],
  ['another field', { password: 'a' }, { password: mark, other: mark }],
  ['another name', { password: 'a' }, { passphrase: mark }],
  ['more items', [{ token: 'a' }], [{ token: mark }, { token: mark }]],
  ['a whole that was redacted', { token: { a: 1 } }, { token: { a: mark } }],
])('RS7 B3 the redaction mark never becomes a value: %s', (_, real, edited) => {
  expect(() => restored(real, () => edited)).toThrow(
    expect.objectContaining({ code: 'redacted_edit' }),
  )
})

test('RS7 B3 an unchanged field keeps the requested value, for any value', () => {
  const key = fc.constantFrom('password', 'n', 'token=x', 'known-secret', 'a')
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      fc.constantFrom('known-secret', 'secret=abc', 'plain', 1, null, true),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 3 }),
    ),
  }))
  fc.assert(
    fc.property(tree, (real) => {
      expect(restored(real, (shown) => structuredClone(shown))).toEqual(real)
    }),
  )
})
