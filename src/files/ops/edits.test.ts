import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FileError } from '../confine/file-error.ts'
import type { Edit } from '../worker/protocol.ts'
import { applyEdit, detectLineEnding, withLineEnding } from './edits.ts'

const applyEdits = (text: string, edits: readonly Edit[]) =>
  edits.reduce((now, edit, place) => applyEdit(now, edit, place + 1), text)

const codeOf = (act: () => unknown) => {
  try {
    act()
  } catch (error) {
    if (error instanceof FileError) return error.code
  }
  return 'no fault'
}

test('FT4 edits are made one after the other, each on what the one before left', () => {
  const edits = [
    { old: 'one', new: 'two' },
    { old: 'two\nthree', new: 'four' },
  ]
  expect(applyEdits('one\nthree\n', edits)).toBe('four\n')
})

test('FT4 an edit that fits twice is refused with the count, overlapping places included', () => {
  expect(() => applyEdits('a b a', [{ old: 'a', new: 'x' }])).toThrow('2 times')
  expect(codeOf(() => applyEdits('aaa', [{ old: 'aa', new: 'x' }]))).toBe('ambiguous_edit')
})

test('FT4 an edit that fits nowhere is refused', () => {
  expect(codeOf(() => applyEdits('abc', [{ old: 'x', new: 'y' }]))).toBe('no_match')
  expect(codeOf(() => applyEdits('abc', [{ old: '', new: 'y' }]))).toBe('no_match')
})

test('FT4 dollar signs in the new text are letters', () => {
  expect(applyEdits('price', [{ old: 'price', new: "$& $1 $$ $` $'" }])).toBe("$& $1 $$ $` $'")
})

test('FT4 line ends match whichever they are, and stay what they were', () => {
  const text = 'one\r\ntwo\r\nthree\r\n'
  expect(applyEdits(text, [{ old: 'one\ntwo', new: 'eins\nzwei\ndrei' }])).toBe(
    'eins\r\nzwei\r\ndrei\r\nthree\r\n',
  )
  expect(applyEdits('a\nb\n', [{ old: 'a\r\nb', new: 'x\r\ny' }])).toBe('x\ny\n')
  // A file with both keeps each where it was.
  expect(applyEdits('a\r\nb\nc\n', [{ old: 'c', new: 'd' }])).toBe('a\r\nb\nd\n')
  expect(applyEdits('a\r\nb\nc\n', [{ old: 'a\n', new: 'x\ny\n' }])).toBe('x\r\ny\r\nb\nc\n')
})

const line = fc.constantFrom('a', 'b', 'ab', '', '$&')
const ending = fc.constantFrom('\n', '\r\n')
const text = fc
  .array(fc.tuple(line, ending), { maxLength: 12 })
  .map((lines) => lines.map(([content, end]) => content + end).join(''))

test('FT4 an edit changes its place and no other character', () => {
  fc.assert(
    fc.property(text, text, fc.string({ maxLength: 5 }), (before, after, word) => {
      const made = applyEdits(`${before}«old»${after}`, [{ old: '«old»', new: word }])
      expect(made.startsWith(before)).toBe(true)
      expect(made.endsWith(after)).toBe(true)
      const put = made.slice(before.length, made.length - after.length)
      expect(put.replaceAll('\r\n', '\n')).toBe(word.replaceAll('\r\n', '\n'))
    }),
  )
})

test('FT4 line ends of one kind come back from the other', () => {
  fc.assert(
    fc.property(text, (given) => {
      const plain = given.replaceAll('\r\n', '\n')
      const windows = withLineEnding(plain, '\r\n')
      expect(withLineEnding(windows, '\n')).toBe(plain)
      expect(withLineEnding(windows, '\r\n')).toBe(windows)
      if (plain.includes('\n')) expect(detectLineEnding(windows)).toBe('\r\n')
    }),
  )
})
