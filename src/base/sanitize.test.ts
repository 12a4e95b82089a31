import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toSafeJson, sanitizeText } from './sanitize.ts'

test.each([
  ['invoice\u202egnp.exe', 'invoiceU+202Egnp.exe'],
  ['zero\u200bwidth', 'zeroU+200Bwidth'],
  ['bell\u0007 and \u001b[31mred', 'bellU+0007 and U+001B[31mred'],
  ['two\nlines\there', 'two↵lines⇥here'],
  ['tag\u{e0041}', 'tagU+E0041'],
  ['hard\u00a0space', 'hardU+00A0space'],
  ['half \ud83d', 'half U+D83D'],
  ['👩‍💻 ❤️ 日本語 שלום', '👩‍💻 ❤️ 日本語 שלום'],
  ['not an emoji a\u200db', 'not an emoji aU+200Db'],
  ['', ''],
])('A13 %j is shown as %s', (text, expected) => {
  expect(sanitizeText(text)).toBe(expected)
})

test.each([
  ['short enough', 12, 'short enough'],
  ['one too many', 11, 'one too ma…'],
  ['ab\u202ecd', 6, 'abU+2…'],
  ['cut 😀', 6, 'cut 😀'],
  ['cut 😀!', 6, 'cut …'],
  ['by 👩‍💻!', 7, 'by 👩…'],
])('A13 %j in %d characters is %s', (text, most, expected) => {
  expect(sanitizeText(text, most)).toBe(expected)
})

test('A13 sanitized text contains no invisible or bidirectional characters and respects the limit', () => {
  const bad =
    /[\p{Cc}\p{Bidi_Control}\p{Cs}\u200b\u2028\u2029]|\u200d(?!\p{Extended_Pictographic})/u
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom('a', '\u202e', '\u200d', '\ufe0f', '👩', '\ud83d', '\n', '💻'),
    }),
  )
  fc.assert(
    fc.property(hostile, fc.integer({ min: 1, max: 40 }), (text, most) => {
      expect(sanitizeText(text, most)).not.toMatch(bad)
      expect(sanitizeText(text, most).length).toBeLessThanOrEqual(most)
      expect(sanitizeText(text)).not.toMatch(bad)
    }),
    { numRuns: 500 },
  )
})

test('PV8 safe JSON parses to the same value without invisible or bidirectional characters', () => {
  const bad = /[\p{Cc}\p{Bidi_Control}\p{Cs}\u200b\u2028\u2029]/u
  const unit = fc.constantFrom('a', '"', '\\', '\u202e', '\u{e0041}', '\ud83d', '\n', '日')
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit }), fc.string({ unit })), (value) => {
      const text = toSafeJson({ ...value }) ?? ''
      expect(JSON.parse(text)).toEqual({ ...value })
      expect(text).not.toMatch(bad)
    }),
  )
})
