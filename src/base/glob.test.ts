import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileGlob, matchesGlob, globsOverlap, globSpecificity } from './glob.ts'

test.each([
  ['*', 'anything', true],
  ['read:*', 'read:files', true],
  ['read:*', 'write:files', false],
  ['*:work', 'write:work', true],
  ['a*b*c', 'a-b-c', true],
  ['a*b*c', 'acb', false],
  ['ab*ba', 'aba', false],
  ['exact', 'exact', true],
  ['exact', 'exactly', false],
])('I11 the glob %s on %s is %s', (pattern, text, matches) => {
  expect(matchesGlob(pattern, text)).toBe(matches)
})

test('I11 a glob matches like the equivalent regular expression', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 })
  fc.assert(
    fc.property(letters, text, (pattern, subject) => {
      const regex = new RegExp(`^${pattern.replaceAll('*', '.*')}$`)
      expect(matchesGlob(pattern, subject)).toBe(regex.test(subject))
      expect(compileGlob(pattern)(subject)).toBe(regex.test(subject))
    }),
  )
})

test('I11 a hostile pattern matches in linear time', () => {
  expect(matchesGlob(`${'a*'.repeat(50_000)}b`, 'a'.repeat(100_000))).toBe(false)
})

test.each([
  ['sales', 'sales', true],
  ['sales', 'support', false],
  ['sales', 'sa*', true],
  ['sales', 's*t', false],
  ['sales-*', '*-bot', true],
  ['sales-*', 'support-*', false],
  ['*.read', '*.write', false],
  ['a*b', 'a*b*c', false],
  ['aa*', 'a*a', true],
  ['*', '', true],
])('Y1 some text matches both %s and %s: %s', (a, b, overlap) => {
  expect(globsOverlap(a, b)).toBe(overlap)
  expect(globsOverlap(b, a)).toBe(overlap)
})

test('Y1 globs overlap exactly when some text matches both', () => {
  const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 4 })
  // If any text matches both, one of 8 letters does: the literals of both fit into it.
  const texts = Array.from({ length: 9 }, (_, length) => length).flatMap((length) =>
    Array.from({ length: 2 ** length }, (_, bits) =>
      Array.from({ length }, (_each, place) => ((bits >> place) & 1 ? 'a' : 'b')).join(''),
    ),
  )
  fc.assert(
    fc.property(glob, glob, (a, b) => {
      const exists = texts.some((text) => matchesGlob(a, text) && matchesGlob(b, text))
      expect(globsOverlap(a, b)).toBe(exists)
    }),
    { numRuns: 500 },
  )
})

test('Y1 the overlap of hostile globs is computed in linear time', () => {
  const long = 'a*'.repeat(100_000)
  expect(globsOverlap(`${long}b`, `${long}c`)).toBe(false)
})

test('Y1 specificity orders exact before glob, then by position, then by literal length', () => {
  expect(globSpecificity('sales', 'crm')).toEqual([1, 1, 8])
  expect(globSpecificity('sales', 'crm.*')).toEqual([1, 0, 9])
  expect(globSpecificity('s*s', '*')).toEqual([0, 0, 2])
})
