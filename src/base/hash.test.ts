import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, sha256Hex, sha256HexInChunks } from './hash.ts'

/** Objects with arbitrary keys in any order, including integer keys, and the same with sorted keys. */
const json = fc.jsonValue({ maxDepth: 4 })
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, item]) => [name, sorted(item)] as const)
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

test('L4 the canonical form does not depend on key order', () => {
  fc.assert(
    fc.property(json, (value) => {
      const form = canonicalize(value)
      expect(canonicalJson(value)).toBe(form)
      expect(canonicalJson(sorted(value))).toBe(form)
    }),
  )
})

test('L4 integer keys and keys beyond the basic plane are ordered by code units', () => {
  const names = [
    '10',
    '9',
    '1',
    'a',
    '-',
    '',
    '\u20ac',
    '\ud83d\ude00',
    '\ufb33',
    '__proto__',
    '\r',
  ]
  fc.assert(
    fc.property(fc.shuffledSubarray(names), (chosen) => {
      const value = Object.fromEntries(chosen.map((name, at) => [name, at]))
      const pairs = chosen
        .map((name, at) => [name, at] as const)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
      const form = pairs.map(([name, at]) => `${JSON.stringify(name)}:${at}`).join(',')
      expect(canonicalJson(value)).toBe(`{${form}}`)
    }),
  )
})

test('L4 the canonical form omits what JSON omits and refuses values without one', () => {
  const left = { a: undefined, b: [undefined, null], c: new Date(0) }
  expect(canonicalJson(left)).toBe('{"b":[null,null],"c":"1970-01-01T00:00:00.000Z"}')
  const itself: Record<string, unknown> = {}
  itself['a'] = itself
  for (const value of [NaN, Infinity, 'half \ud83d', { '\udc00': 1 }, 1n, undefined, itself])
    expect(() => canonicalJson(value)).toThrow(Error)
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
  expect(canonicalJson(JSON.parse(deep))).toBe(deep)
})

test('RS4 large content is hashed in chunks and the event loop runs in between', async () => {
  let turns = 0
  const tick = () => {
    turns++
    immediate = setImmediate(tick)
  }
  let immediate = setImmediate(tick)
  const content = Buffer.alloc(20 * 1024 * 1024, 'abc')
  expect(await sha256HexInChunks(content)).toBe(sha256Hex(content))
  clearImmediate(immediate)
  expect(turns).toBeGreaterThanOrEqual(9)
  for (const short of [Buffer.alloc(0), Buffer.from('abc')])
    expect(await sha256HexInChunks(short)).toBe(sha256Hex(short))
})
