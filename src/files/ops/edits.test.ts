import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FileError } from '../confine/file-error.ts'
import type { Edit } from '../worker/protocol.ts'
import { applyEdit, detectLineEnding, withLineEnding } from './edits.ts'

const applyEdits = (text: string, edits: readonly Edit[]) =>
  edits.reduce((current, edit, index) => applyEdit(current, edit, index + 1), text)

const getErrorCode = (operation: () => unknown) => {
  try {
    operation()
  } catch (error) {
    if (error instanceof FileError) return error.code
  }
  return 'no fault'
}

test('FT4 applies each edit to the result of the previous one', () => {
  const edits = [
    { old: 'one', new: 'two' },
    { old: 'two\nthree', new: 'four' },
  ]
  expect(applyEdits('one\nthree\n', edits)).toBe('four\n')
})

test('FT4 refuses an edit with two matches and reports the count, including overlaps', () => {
  expect(() => applyEdits('a b a', [{ old: 'a', new: 'x' }])).toThrow('2 times')
  expect(getErrorCode(() => applyEdits('aaa', [{ old: 'aa', new: 'x' }]))).toBe('ambiguous_edit')
})

test('FT4 refuses an edit without a match', () => {
  expect(getErrorCode(() => applyEdits('abc', [{ old: 'x', new: 'y' }]))).toBe('no_match')
  expect(getErrorCode(() => applyEdits('abc', [{ old: '', new: 'y' }]))).toBe('no_match')
})

test('FT4 dollar signs in the new text are literal', () => {
  expect(applyEdits('price', [{ old: 'price', new: "$& $1 $$ $` $'" }])).toBe("$& $1 $$ $` $'")
})

test('FT4 matches any line endings and keeps those of the file', () => {
  const text = 'one\r\ntwo\r\nthree\r\n'
  expect(applyEdits(text, [{ old: 'one\ntwo', new: 'eins\nzwei\ndrei' }])).toBe(
    'eins\r\nzwei\r\ndrei\r\nthree\r\n',
  )
  expect(applyEdits('a\nb\n', [{ old: 'a\r\nb', new: 'x\r\ny' }])).toBe('x\ny\n')
  // A file with mixed line endings keeps each of them.
  expect(applyEdits('a\r\nb\nc\n', [{ old: 'c', new: 'd' }])).toBe('a\r\nb\nd\n')
  expect(applyEdits('a\r\nb\nc\n', [{ old: 'a\n', new: 'x\ny\n' }])).toBe('x\r\ny\r\nb\nc\n')
})

const line = fc.constantFrom('a', 'b', 'ab', '', '$&')
const ending = fc.constantFrom('\n', '\r\n')
const text = fc
  .array(fc.tuple(line, ending), { maxLength: 12 })
  .map((lines) => lines.map(([content, end]) => content + end).join(''))

test('FT4 an edit changes its match and no other character', () => {
  fc.assert(
    fc.property(text, text, fc.string({ maxLength: 5 }), (before, after, word) => {
      const result = applyEdits(`${before}«old»${after}`, [{ old: '«old»', new: word }])
      expect(result.startsWith(before)).toBe(true)
      expect(result.endsWith(after)).toBe(true)
      const inserted = result.slice(before.length, result.length - after.length)
      expect(inserted.replaceAll('\r\n', '\n')).toBe(word.replaceAll('\r\n', '\n'))
    }),
  )
})

test('FT4 converting line endings is reversible', () => {
  fc.assert(
    fc.property(text, (input) => {
      const plain = input.replaceAll('\r\n', '\n')
      const windows = withLineEnding(plain, '\r\n')
      expect(withLineEnding(windows, '\n')).toBe(plain)
      expect(withLineEnding(windows, '\r\n')).toBe(windows)
      if (plain.includes('\n')) expect(detectLineEnding(windows)).toBe('\r\n')
    }),
  )
})
