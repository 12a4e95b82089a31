import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import { compilePathGlob, isPathGlob } from './path-glob.ts'

const matches = (glob: string, path: string) => compilePathGlob(glob)(path)

test.each([
  ['**/credentials*', '/home/me/credentials.json', true],
  ['**/credentials*', 'credentials', true],
  ['**/credentials*', '/home/credentials/x', false],
  ['**/*.pem', '/a/b/key.pem', true],
  ['**/*.pem', '/a/b/key.pem.txt', false],
  ['*.md', 'a.md', true],
  ['*.md', 'a/b.md', false],
  ['docs/**', 'docs/a/b', true],
  ['docs/**/x', 'docs/x', true],
  ['docs/**/x', 'docs/a/b/x', true],
  ['docs/**/x', 'docs/a/b/y', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['a?', 'a😀', true],
  ['*.{md,txt}', 'x.txt', true],
  ['*.{md,txt}', 'x.doc', false],
  ['{a,b{c,d}}', 'bd', true],
  ['{a,b{c,d}}', 'b', false],
  ['{x}', '{x}', true],
  ['[ab]', 'a', false],
  ['[ab]', '[ab]', true],
  ['a\\*', 'a\\b', true],
] as const)('PV7 %j on %j is %s', (glob, path, expected) => {
  expect(matches(glob, path)).toBe(expected)
})

test('PV7 text without wildcards is not a glob', () => {
  expect(['a*', '?', '{a,b}'].map(isPathGlob)).toEqual([true, true, true])
  expect(['a.md', '{a}', '[ab]', ''].map(isPathGlob)).toEqual([false, false, false, false])
})

test('PV7 folds letters with the given function', () => {
  const matcher = compilePathGlob('**/Secret*', (text) => text.toLowerCase())
  expect(matcher('/a/SECRET.txt')).toBe(true)
})

test('PV7 hostile patterns end on paths built for them', () => {
  const long = `${'a/'.repeat(1000)}${'a'.repeat(200)}`
  for (const glob of [
    `${'*a'.repeat(25)}b`,
    `${'**/'.repeat(60)}b`,
    `${'**/a*'.repeat(100)}b`,
    `${'{a,b}'.repeat(6)}`,
    `${'?'.repeat(512)}`,
  ])
    expect(matches(glob, long)).toBe(false)
})

test('PV7 refuses too many braces and too long patterns', () => {
  const getErrorCode = (glob: string) => {
    try {
      compilePathGlob(glob)
      return undefined
    } catch (error) {
      return error instanceof CoworkError ? error.code : error
    }
  }
  expect(getErrorCode('{a,b}'.repeat(6))).toBeUndefined()
  expect(getErrorCode('{a,b}'.repeat(7))).toBe('invalid_glob')
  expect(getErrorCode('{a,b}'.repeat(60))).toBe('invalid_glob')
  expect(getErrorCode(`{${'{a,b},'.repeat(40)}c}`)).toBe('invalid_glob')
  expect(getErrorCode('a'.repeat(513))).toBe('invalid_glob')
})

/** A naive reference implementation. */
function matchesReference(globs: readonly string[], names: readonly string[]): boolean {
  const [glob, ...rest] = globs
  if (glob === undefined) return names.length === 0
  if (glob === '**')
    return (
      names.some((_, at) => matchesReference(rest, names.slice(at))) || matchesReference(rest, [])
    )
  const [name, ...others] = names
  return name !== undefined && matchesNameReference(glob, name) && matchesReference(rest, others)
}
function matchesNameReference(glob: string, name: string): boolean {
  if (glob === '') return name === ''
  const [first, rest] = [glob[0], glob.slice(1)]
  if (first === '*')
    return (
      matchesNameReference(rest, name) || (name !== '' && matchesNameReference(glob, name.slice(1)))
    )
  return (
    name !== '' && (first === '?' || first === name[0]) && matchesNameReference(rest, name.slice(1))
  )
}

test('PV7 the fast matcher agrees with the reference', () => {
  const globName = fc.oneof(
    fc.constant('**'),
    fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 5 }),
  )
  const name = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(
      fc.array(globName, { minLength: 1, maxLength: 5 }),
      fc.array(name, { minLength: 1, maxLength: 5 }),
      (globs, names) => {
        expect(matches(globs.join('/'), names.join('/'))).toBe(matchesReference(globs, names))
      },
    ),
  )
})
