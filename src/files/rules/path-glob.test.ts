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

test('PV7 what stands for itself is no glob', () => {
  expect(['a*', '?', '{a,b}'].map(isPathGlob)).toEqual([true, true, true])
  expect(['a.md', '{a}', '[ab]', ''].map(isPathGlob)).toEqual([false, false, false, false])
})

test('PV7 letters can be taken for one another, by whoever compiles', () => {
  const matcher = compilePathGlob('**/Secret*', (text) => text.toLowerCase())
  expect(matcher('/a/SECRET.txt')).toBe(true)
})

test('PV7 hostile patterns end, on paths made for them', () => {
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

test('PV7 braces beyond the limit, and patterns too long, are refused', () => {
  const codeOf = (glob: string) => {
    try {
      compilePathGlob(glob)
      return undefined
    } catch (error) {
      return error instanceof CoworkError ? error.code : error
    }
  }
  expect(codeOf('{a,b}'.repeat(6))).toBeUndefined()
  expect(codeOf('{a,b}'.repeat(7))).toBe('invalid_glob')
  expect(codeOf('{a,b}'.repeat(60))).toBe('invalid_glob')
  expect(codeOf(`{${'{a,b},'.repeat(40)}c}`)).toBe('invalid_glob')
  expect(codeOf('a'.repeat(513))).toBe('invalid_glob')
})

/** What it means, said as slowly as it can be. */
function meaning(globs: readonly string[], names: readonly string[]): boolean {
  const [glob, ...rest] = globs
  if (glob === undefined) return names.length === 0
  if (glob === '**')
    return names.some((_, at) => meaning(rest, names.slice(at))) || meaning(rest, [])
  const [name, ...others] = names
  return name !== undefined && nameMeaning(glob, name) && meaning(rest, others)
}
function nameMeaning(glob: string, name: string): boolean {
  if (glob === '') return name === ''
  const [first, rest] = [glob[0], glob.slice(1)]
  if (first === '*')
    return nameMeaning(rest, name) || (name !== '' && nameMeaning(glob, name.slice(1)))
  return name !== '' && (first === '?' || first === name[0]) && nameMeaning(rest, name.slice(1))
}

test('PV7 the fast walk finds what the plain meaning finds', () => {
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
        expect(matches(globs.join('/'), names.join('/'))).toBe(meaning(globs, names))
      },
    ),
  )
})
