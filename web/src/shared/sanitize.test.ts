import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { describeHidden, splitHiddenCharacters } from './sanitize.ts'

const shown = (text: string, options = {}) =>
  splitHiddenCharacters(text, options)
    .map(({ text: run, hidden }) => (hidden ? `[${run}]` : run))
    .join('')

test.each([
  ['invoice\u202egnp.exe', 'invoice[U+202E]gnp.exe'],
  ['zero\u200bwidth', 'zero[U+200B]width'],
  ['bell\u0007', 'bell[U+0007]'],
  ['two\nlines\there', 'two[↵]lines[⇥]here'],
  ['\ufeffmark', '[U+FEFF]mark'],
  ['tag\u{e0041}', 'tag[U+E0041]'],
  ['hard\u00a0space', 'hard[U+00A0]space'],
  ['filler\u3164', 'filler[U+3164]'],
  ['half \ud83d', 'half [U+D83D]'],
  ['👩‍💻 ❤️ 日本語 שלום', '👩‍💻 ❤️ 日本語 שלום'],
  ['not an emoji a\u200db', 'not an emoji a[U+200D]b'],
  ['', ''],
])('A13 %j is shown as %s', (text, expected) => {
  expect(shown(text)).toBe(expected)
})

test('A13 a block keeps line breaks and tabs', () => {
  expect(shown('a\n\tb\rc', { lines: true })).toBe('a\n\tb[U+000D]c')
})

test('A13 a block keeps Windows line endings', () => {
  expect(shown('a\r\nb\r\n', { lines: true })).toBe('a\r\nb\r\n')
  expect(shown('a\r\n')).toBe('a[U+000D][↵]')
})

test('A13 file content keeps visible spaces', () => {
  const text = '10\u00a0000\u202f€\u3000。'
  expect(shown(text, { lines: true, spaces: true })).toBe(text)
  expect(shown(text, { lines: true })).toBe('10[U+00A0]000[U+202F]€[U+3000]。')
  expect(shown('a\u200bb\u202e', { spaces: true })).toBe('a[U+200B]b[U+202E]')
})

test('A13 PV8 the number of marks is limited, and no hidden character remains', () => {
  expect(shown('a\u0007\u0007\u0007b')).toBe('a[U+0007 ×3]b')
  expect(splitHiddenCharacters('\u0007'.repeat(100_000))).toHaveLength(1)
  const runs = splitHiddenCharacters('x\u200b'.repeat(50_000))
  expect(runs.length).toBeLessThan(2100)
  expect(runs.some(({ text, hidden }) => hidden === undefined && text.includes('\u200b'))).toBe(
    false,
  )
  expect(describeHidden(`${'x\u200b'.repeat(50_000)}\u202e`)).toContain('U+202E')
})

test('A13 visible runs contain no hidden or bidi characters', () => {
  const unseen = /[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029]/u
  const keeps = (text: string) =>
    splitHiddenCharacters(text).every(
      ({ text: run, hidden }) => hidden !== undefined || !unseen.test(run),
    )
  expect(fc.check(fc.property(fc.string({ unit: 'binary' }), keeps)).failed).toBe(false)
})

test('A13 hidden characters of an input are listed', () => {
  expect(describeHidden('a\n\tb')).toBeUndefined()
  expect(describeHidden('x\u202Ey\u200Bz\u202E')).toBe(
    'Contains hidden characters: U+202E, U+200B.',
  )
})
