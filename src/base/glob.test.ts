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

test('I11 a glob agrees with the regular expression it stands for', () => {
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

test('I11 a hostile pattern costs no time', () => {
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
  // Whatever both match, one of 8 letters does: the literals of both fit into it.
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

test('Y1 hostile globs cost no time', () => {
  const long = 'a*'.repeat(100_000)
  expect(globsOverlap(`${long}b`, `${long}c`)).toBe(false)
})

test('Y1 exact comes before glob, the first of several first, then the longer literal', () => {
  expect(globSpecificity('sales', 'crm')).toEqual([1, 1, 8])
  expect(globSpecificity('sales', 'crm.*')).toEqual([1, 0, 9])
  expect(globSpecificity('s*s', '*')).toEqual([0, 0, 2])
})
