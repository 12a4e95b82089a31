import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applySplices } from './client-file.ts'
import { setTomlTable, parseToml, removeTomlTable, getTomlTable } from './toml.ts'
import type { Made } from './toml.ts'

const path = ['mcp_servers', 'cowork']
const table = { command: '/usr/bin/node', args: ['cowork.mjs', 'mcp', '--agent', 'codex'] }
const source = (text: string) => ({ file: 'config.toml', text })

function put(text: string): { text: string; made?: Made } {
  const { splices = [], made } = setTomlTable(source(text), path, table) ?? {}
  return { text: applySplices(text, splices), ...(made && { made }) }
}

const take = (text: string, made?: Made) =>
  applySplices(text, removeTomlTable(source(text), path, made) ?? [])

const block =
  '[mcp_servers.cowork]\ncommand = "/usr/bin/node"\nargs = ["cowork.mjs", "mcp", "--agent", "codex"]\n'

test('K4 appends the table after one empty line', () => {
  expect(put('').text).toBe(block)
  expect(put('model = "x"\n').text).toBe(`model = "x"\n\n${block}`)
  expect(put('model = "x"').text).toBe(`model = "x"\n\n${block}`)
  expect(put('[a]\r\nb = 1\r\n').text).toBe(`[a]\r\nb = 1\r\n\r\n${block.replaceAll('\n', '\r\n')}`)
})

test('K4 replaces an existing table with its subtables, and leaves an equal one', () => {
  const before =
    'a = 1\n[mcp_servers.cowork]\n# note\ncommand = "old"\n[mcp_servers.cowork.env]\nA = "b"\n\n[z]\n'
  expect(put(before).text).toBe(`a = 1\n${block}# note\n\n[z]\n`)
  expect(setTomlTable(source(put(before).text), path, table)).toBeUndefined()
})

test('K4 removing the table keeps other tables and their comments', () => {
  const { text, made } = put('model = "x" # mine\n')
  const more = `${text}# theirs\n[mcp_servers.other]\nurl = "u"\n`
  expect(take(more, made)).toBe('model = "x" # mine\n# theirs\n[mcp_servers.other]\nurl = "u"\n')
  expect(removeTomlTable(source('[mcp_servers.cowork2]\n'), path)).toBeUndefined()
})

test('K4 reads a table in any notation', () => {
  const text = `
[mcp_servers."cowork"] # ours
command = '/usr/bin/node'
args = [
  "cowork.mjs", # launcher
  """
mcp""", "\\u002d\\x2dagent",
  'codex',
]
`
  expect(getTomlTable(source(text), path)).toEqual(table)
})

test.each([
  ['mcp_servers = { cowork = { url = "x" } }', 'must be a table'],
  ['[mcp_servers]\ncowork = { url = "x" }', 'config.toml:2:1: mcp_servers.cowork must be a table'],
  ['mcp_servers.cowork.url = "x"', 'must be a table'],
  ['[[mcp_servers]]', 'must be a table'],
  ['[mcp_servers.cowork]\n[mcp_servers.cowork]', 'duplicate table'],
  ['a = ', 'expected a value'],
  ['a = "x', 'expected a value'],
  ["a = '''x", 'unterminated string'],
  ['a = """x\\""" ', 'unterminated string'],
  ['a = "\\q"', 'invalid escape'],
  ['a = [1, 2', 'expected '],
  ['[a', 'expected ]'],
  ['a = 1 b = 2', 'expected a line end'],
  ['= 1', 'expected a key'],
  ['{"json": true}', 'expected a key'],
  [`a = ${'['.repeat(5000)}`, 'nested more than 100 levels deep'],
])('K4 %j is refused with its position', (text, message) => {
  expect(() => put(text)).toThrow(message)
})

const documentArb = fc.constantFrom('\n', '\r\n').chain((eol) => {
  const value = fc.constantFrom(
    '1_000',
    'true',
    '1979-05-27 07:32:00Z',
    '"a # [b]"',
    "'c:\\d'",
    `"""${eol}[mcp_servers.cowork]${eol}"""`,
    `'''x''''`,
    `[ 1, # one${eol} [2, ],${eol}]`,
    '{ a = "b", c.d = [1] }',
  )
  const line = fc.oneof(
    fc.constantFrom('', '  ', '# [mcp_servers.cowork]', '[a.b]', '[[list]]', '[mcp_servers.other]'),
    fc.tuple(fc.constantFrom('k', '"q r"', 'x.y'), value).map(([k, v]) => `${k} = ${v} # note`),
  )
  return fc
    .tuple(fc.array(line, { maxLength: 6 }), fc.constantFrom('', eol, `${eol}${eol}`))
    .map(([lines, end]) => lines.join(eol) + end)
})

test('K4 for any file, connecting adds only the table and disconnecting restores the bytes', () => {
  fc.assert(
    fc.property(documentArb, (before) => {
      const { text, made } = put(before)
      expect(text.startsWith(before)).toBe(true)
      expect(getTomlTable(source(text), path)).toEqual(table)
      expect(parseToml(source(text)).slice(0, -3)).toEqual(
        parseToml(source(before)).map(withAnyEnd),
      )
      expect(take(text, made)).toBe(before)
    }),
    { numRuns: 1000 },
  )
})

/** The last line may have had no line end. */
const withAnyEnd = (statement: object) => ({ ...statement, end: expect.any(Number) as number })
