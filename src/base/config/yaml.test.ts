import { expect, test } from 'vitest'
import { parseYaml } from './yaml.ts'

const megabyte = 1024 * 1024

test('SV5 values and keys have positions, and a missing value has that of its parent', () => {
  const { value, locate } = parseYaml('# note\r\na:\r\n  b: [1, {c: x}]\r\n')
  expect(value).toEqual({ a: { b: [1, { c: 'x' }] } })
  expect(locate(['a', 'b', 1, 'c'], 'value')).toEqual({ line: 3, column: 14 })
  expect(locate(['a', 'b', 1, 'c'], 'key')).toEqual({ line: 3, column: 11 })
  expect(locate(['a', 'z', 'y'], 'value')).toEqual({ line: 2, column: 1 })
})

test('SV5 anchors and aliases work', () => {
  expect(parseYaml('a: &x [1]\nb: *x\n').value).toEqual({ a: [1], b: [1] })
})

test('SV5 a key named __proto__ is an ordinary key', () => {
  const { value } = parseYaml('__proto__: {polluted: true}\n')
  expect(Object.keys(value as object)).toEqual(['__proto__'])
  expect({}).not.toHaveProperty('polluted')
})

const bomb = ['a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]']
for (const [index, name] of 'bcdefgh'.split('').entries())
  bomb.push(`${name}: &${name} [${`*${'abcdefg'[index]}, `.repeat(9)}]`)

test.each([
  ['an alias bomb', bomb.join('\n'), 'aliases'],
  ['an alias that contains itself', 'a: &a [*a]', 'contains itself'],
  ['brackets without end', '['.repeat(megabyte), 'levels deep'],
  ['dashes without end', '- '.repeat(megabyte / 2), 'levels deep'],
  ['question marks without end', '? '.repeat(megabyte / 2), 'not supported'],
  [
    'deep indentation',
    Array.from({ length: 1400 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
    'levels deep',
  ],
  [
    'very many keys',
    Array.from({ length: 90_000 }, (_, i) => `k${i}: 1`).join('\n'),
    'more than 100000',
  ],
  ['very many faults', '[]'.repeat(megabyte / 2), 'more than 100000'],
])('N34 %s is refused', (_, source, message) => {
  const { problems } = parseYaml(source)
  expect(problems.length).toBeGreaterThan(0)
  expect(problems.length).toBeLessThanOrEqual(100)
  expect(problems[0]?.message).toContain(message)
})
