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
])('K6 %s is %i columns wide', (text, columns) => {
  expect(displayWidth(text)).toBe(columns)
})

test('K6 truncated text ends with an ellipsis', () => {
  expect(truncate('approve it', 7)).toBe('approv…')
  expect(truncate('日本語', 4)).toBe('日…')
  expect(truncate('fits', 4)).toBe('fits')
  expect(padToWidth('ab', 4)).toBe('ab  ')
  expect(lineText(truncateLine([bold('four'), dim('five!')], 6))).toBe('fourf…')
})

test('K6 truncated and padded text keeps to its columns', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 20 }), (text, width) => {
      expect(displayWidth(truncate(text, width))).toBeLessThanOrEqual(width)
      expect(displayWidth(padToWidth(text, width))).toBe(width)
    }),
  )
})

test('K6 wraps a long line at spaces and keeps its indentation', () => {
  expect(wrapLine(['  + stage: one two three'], 14).map(lineText)).toEqual([
    '  + stage: one',
    '    two three',
  ])
  expect(wrapLine(['short'], 14)).toEqual([['short']])
})

test('K6 wrapping loses only the spaces at line breaks', () => {
  const bare = (text: string) => text.replaceAll(' ', '')
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 12, max: 30 }), (text, width) => {
      const lines = wrapLine([`x${text}`], width).map(lineText)
      expect(bare(lines.join(''))).toBe(bare(`x${text}`))
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width)
    }),
  )
})

test('K2 uses no color without a terminal', () => {
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
