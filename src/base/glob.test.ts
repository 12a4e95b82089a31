import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { globMatches } from './glob.ts'

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
  expect(globMatches(pattern, text)).toBe(matches)
})

test('I11 a glob agrees with the regular expression it stands for', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 })
  fc.assert(
    fc.property(letters, text, (pattern, subject) => {
      const regex = new RegExp(`^${pattern.replaceAll('*', '.*')}$`)
      expect(globMatches(pattern, subject)).toBe(regex.test(subject))
    }),
  )
})

test('I11 a hostile pattern costs no time', () => {
  expect(globMatches(`${'a*'.repeat(50_000)}b`, 'a'.repeat(100_000))).toBe(false)
})
