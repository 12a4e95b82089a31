import fc from 'fast-check'
import { expect, test } from 'vitest'
import { getJsonValue, setJsonValue, removeJsonValue } from './json.ts'
import type { Made, Place } from './json.ts'
import { applySplices } from './client-file.ts'

const place: Place = ['mcpServers', 'cowork']
const entry = { command: 'node', args: ['cowork.mjs', 'mcp'] }
const source = (text: string) => ({ file: 'settings.json', text })

function put(text: string, at = place, value: unknown = entry): { text: string; made?: Made } {
  const { splices = [], made } = setJsonValue(source(text), at, value) ?? {}
  return { text: applySplices(text, splices), ...(made && { made }) }
}

const parseValue = (text: string) =>
  getJsonValue(source(text), []) as { mcpServers?: object; [name: string]: unknown }

const take = (text: string, made?: Made, at = place) =>
  applySplices(text, removeJsonValue(source(text), at, made) ?? [])

test('K4 inserts the entry first, indented like the file, and keeps the others', () => {
  const before = '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"other": {"url": "x"}\n\t}\n}\n'
  expect(put(before).text).toBe(
    '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"cowork": {\n\t\t\t"command": "node",\n\t\t\t"args": [\n\t\t\t\t"cowork.mjs",\n\t\t\t\t"mcp"\n\t\t\t]\n\t\t},\n\t\t"other": {"url": "x"}\n\t}\n}\n',
  )
})

test('K4 keeps comments, trailing commas and single lines', () => {
  const value = { url: 'u' }
  const after = (text: string) => put(text, place, value).text
  expect(after('{"mcpServers":{"a":1}}')).toBe('{"mcpServers":{"cowork":{"url":"u"},"a":1}}')
  expect(after('{ "a": 1 }')).toBe('{ "mcpServers":{"cowork":{"url":"u"}}, "a": 1 }')
  expect(after('{ // mine\n  "mcpServers": { /* none yet */ }, // end\n}')).toBe(
    '{ // mine\n  "mcpServers": {\n    "cowork": {\n      "url": "u"\n    }\n   /* none yet */ }, // end\n}',
  )
  expect(after('{ // mine\n  "a": 1,\n}')).toBe(
    '{ // mine\n  "mcpServers": {\n    "cowork": {\n      "url": "u"\n    }\n  },\n  "a": 1,\n}',
  )
})

test('K4 replaces an existing entry in place, and leaves an equal one', () => {
  const before = '{\n  "mcpServers": {\n    "a": 1,\n    "cowork": { "url": "old" } // ours\n  }\n}'
  expect(put(before, place, { url: 'new' }).text).toBe(
    '{\n  "mcpServers": {\n    "a": 1,\n    "cowork": {\n      "url": "new"\n    } // ours\n  }\n}',
  )
  expect(setJsonValue(source(before), place, { url: 'old' })).toBeUndefined()
})

test('K4 removing the entry removes one comma and no comment', () => {
  expect(take('{"mcpServers": {"a": 1, "cowork": {}, "b": 2}}')).toBe(
    '{"mcpServers": {"a": 1, "b": 2}}',
  )
  expect(take('{"mcpServers": {\n "a": 1, // one\n "cowork": {}\n}}')).toBe(
    '{"mcpServers": {\n "a": 1 // one\n}}',
  )
  // On the line of the comment, the rest would become part of it.
  expect(take('{"mcpServers": { // ours\n "cowork": {}, "b": 2}}')).toBe(
    '{"mcpServers": { // ours\n "b": 2}}',
  )
  expect(take('{"mcpServers": {\n  "cowork": {}\n}}')).toBe('{"mcpServers": {}}')
  expect(removeJsonValue(source('{"mcpServers": {}}'), place)).toBeUndefined()
})

test('K4 keeps a created container once it has other entries', () => {
  const { text, made } = put('{\n  "a": 1\n}')
  const shared = text.replace('"cowork"', '"other": 1, "cowork"')
  expect(getJsonValue(source(take(shared, made)), ['mcpServers'])).toEqual({ other: 1 })
})

test.each([
  ['{"mcpServers": {', 'settings.json:1:17: expected a closing }'],
  ['{"a": 1 "b": 2}', 'settings.json:1:9: expected a comma'],
  ["{'a': 1}", 'a name in double quotes'],
  ['{"a": "\n"}', 'unterminated string'],
  ['{"a": "\\x"}', 'invalid string or number'],
  ['{"a": "x', 'unterminated string'],
  ['{"a": 01}', 'expected a comma'],
  ['{"a": undefined}', 'settings.json:1:7: expected a value or a name in double quotes'],
  ['{"a": }', 'expected a value'],
  ['{} {}', 'unexpected text after the document'],
  ['/* x', 'unterminated comment'],
  ['[]', 'the document must be an object'],
  ['{"mcpServers": null}', '"mcpServers" must be an object'],
  ['{"mcpServers": {"cowork": 1, "cowork": 2}}', 'duplicate "cowork"'],
  ['['.repeat(5000), 'nested more than 100 levels deep'],
])('K4 %j is refused with its position', (text, message) => {
  expect(() => setJsonValue(source(text), place, entry)).toThrow(message)
})

const gapArb = (eol: string) =>
  fc
    .array(
      fc.constantFrom(' ', '  ', '\t', eol, `${eol}  `, '/* c */', `// c ${eol}`, `/*${eol}*/`),
      { maxLength: 3 },
    )
    .map((parts) => parts.join(''))

/** Documents with gaps and comments anywhere, with or without the entry's container. */
const documentArb = fc.constantFrom('\n', '\r\n').chain((eol) => {
  const gap = gapArb(eol)
  const scalar = fc.constantFrom('1', '-0.5e3', 'true', 'null', '"x"', '"\\"}//"', '""')
  const name = fc.constantFrom('"a"', '"b"', '"mcpServers "', '"\\u0061 {"')
  const object = (members: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc
      .tuple(fc.array(fc.tuple(gap, members, gap), { maxLength: 3 }), gap, fc.boolean())
      .map(([items, last, trailing]) => {
        const inner = items.map((parts) => parts.join('')).join(',')
        return `{${inner}${trailing && items.length > 0 ? ',' : ''}${last}}`
      })
  const member = fc.tuple(name, gap, gap, scalar).map(([n, a, b, v]) => `${n}${a}:${b}${v}`)
  const servers = fc.tuple(gap, object(member)).map(([g, o]) => `"mcpServers":${g}${o}`)
  const root = fc
    .tuple(fc.array(member, { maxLength: 2 }), fc.option(servers), gap, gap, gap)
    .map(([some, ours, a, b, c]) => {
      const items = [...some, ...(ours ? [ours] : [])]
      return `{${items.map((item) => a + item + b).join(',')}${c}}`
    })
  return fc.tuple(fc.constantFrom('', '\uFEFF'), gap, root, gap).map((parts) => parts.join(''))
})

test('K4 for any document, connecting adds only the entry and disconnecting restores the bytes', () => {
  fc.assert(
    fc.property(documentArb, (before) => {
      const { text, made } = put(before)
      const { mcpServers, ...rest } = parseValue(before)
      expect(parseValue(text)).toEqual({ ...rest, mcpServers: { ...mcpServers, cowork: entry } })
      expect(take(text, made)).toBe(before)
    }),
    { numRuns: 2000 },
  )
})

test('K4 an empty file and a list item are restored too', () => {
  const input: Place = ['inputs', { id: 'cowork-token' }]
  const value = { type: 'promptString', id: 'cowork-token' }
  for (const before of [
    '',
    '\uFEFF',
    ' \r\n',
    '{}',
    '{"inputs": [{"id": "x"}]}',
    '{ "inputs": [\n] }',
  ]) {
    const { text, made } = put(before, input, value)
    expect(getJsonValue(source(text), input)).toEqual(value)
    expect(take(text, made, input)).toBe(before)
  }
})
