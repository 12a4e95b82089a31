import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  bold,
  displayWidth,
  truncate,
  truncateLine,
  dim,
  padToWidth,
  renderLine,
  formatDuration,
  lineText,
  wrapLine,
} from './lines.ts'

test.each([
  ['plain', 5],
  ['日本', 4],
  ['e\u0301', 1],
  ['👍', 2],
  ['🇩🇪', 2],
  ['', 0],
])('K6 %s takes %i columns', (text, columns) => {
  expect(displayWidth(text)).toBe(columns)
})

test('K6 what does not fit ends with an ellipsis', () => {
  expect(truncate('approve it', 7)).toBe('approv…')
  expect(truncate('日本語', 4)).toBe('日…')
  expect(truncate('fits', 4)).toBe('fits')
  expect(padToWidth('ab', 4)).toBe('ab  ')
  expect(lineText(truncateLine([bold('four'), dim('five!')], 6))).toBe('fourf…')
})

test('K6 whatever it is, cut and fitted it keeps to its columns', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 20 }), (text, room) => {
      expect(displayWidth(truncate(text, room))).toBeLessThanOrEqual(room)
      expect(displayWidth(padToWidth(text, room))).toBe(room)
    }),
  )
})

test('K6 a long line is broken at spaces and goes on below its beginning', () => {
  expect(wrapLine(['  + stage: one two three'], 14).map(lineText)).toEqual([
    '  + stage: one',
    '    two three',
  ])
  expect(wrapLine(['short'], 14)).toEqual([['short']])
})

test('K6 wrapping loses nothing but the spaces it breaks at', () => {
  const bare = (text: string) => text.replaceAll(' ', '')
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 12, max: 30 }), (text, room) => {
      const lines = wrapLine([`x${text}`], room).map(lineText)
      expect(bare(lines.join(''))).toBe(bare(`x${text}`))
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(room)
    }),
  )
})

test('K2 nothing is coloured where nobody looks', () => {
  expect(renderLine([bold('a'), ' ', dim('b')], new PassThrough())).toBe('a b')
})

test.each([
  [900, '0s'],
  [59_000, '59s'],
  [60_000, '1m'],
  [3 * 3_600_000 + 1, '3h'],
  [-5, '0s'],
  [8 * 86_400_000, '8d'],
])('K6 %i milliseconds are %s', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text)
})
