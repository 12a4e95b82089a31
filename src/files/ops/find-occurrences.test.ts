import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findOccurrences } from './edits.ts'

/** A naive reference implementation. */
const findNaively = (text: string, part: string) =>
  [...text].map((_, at) => at).filter((at) => text.startsWith(part, at))

const fewLetters = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength, maxLength })

test('FT4 finds all occurrences, including overlapping ones, up to a limit', () => {
  fc.assert(
    fc.property(
      fewLetters(0, 60),
      fewLetters(1, 8),
      fc.integer({ min: 1, max: 5 }),
      (text, part, most) => {
        expect(findOccurrences(text, part, most)).toEqual(findNaively(text, part).slice(0, most))
      },
    ),
  )
})

test('PV7 repetitive texts are searched in linear time, with the same result', () => {
  const filler = 'a'.repeat(2_000_000)
  const part = `${'a'.repeat(50_000)}b${'a'.repeat(50_000)}`
  expect(findOccurrences(filler, part, 10)).toEqual([])
  const text = `${filler}b${'a'.repeat(50_000)}b${filler}`
  expect(findOccurrences(text, part, 10)).toEqual([1_950_000, 2_000_001])
  expect(findOccurrences(filler, 'a'.repeat(100_000), 1000)).toHaveLength(1000)
})
