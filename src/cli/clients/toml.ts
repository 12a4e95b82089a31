import { isDeepStrictEqual } from 'node:util'
import { syntaxError, detectLineEnding } from './client-file.ts'
import type { Source, Splice } from './client-file.ts'

type TomlValue = string | readonly TomlValue[] | { readonly [key: string]: TomlValue }

/** A header or a pair, with complete lines. */
export type Statement = {
  readonly kind: 'table' | 'list' | 'pair'
  /** Path from the root; the path of a pair includes its table. */
  readonly path: readonly string[]
  readonly start: number
  readonly end: number
  /** Value of a pair: a string, list or inline table; other values as source text. */
  readonly value?: TomlValue
}

const maxDepth = 100
const space = /[ \t]*/y
const gap = /[ \t\r\n]*/y
const comment = /#[^\r\n]*/y
const lineEnd = /\r?\n/y
const bareKey = /[A-Za-z0-9_-]+/y
const literal = /'[^'\r\n]*'/y
const basic = /"(?:[^"\\\r\n]|\\.)*"/y
// Numbers, dates and keywords: only their end matters.
const bare = /[+-]?[A-Za-z0-9][A-Za-z0-9_.:+-]*(?: \d\d:\d\d[0-9:.]*(?:Z|[+-]\d\d:\d\d)?)?/y
const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\u001B',
}

export function parseToml(source: Source): Statement[] {
  const { text } = source
  const statements: Statement[] = []
  let at = text.startsWith('\uFEFF') ? 1 : 0
  let table: readonly string[] = []
  const errorAt = (what: string) => syntaxError(source, at, what)

  function match(form: RegExp): string | undefined {
    form.lastIndex = at
    const found = form.exec(text)?.[0]
    if (found !== undefined) at += found.length
    return found
  }
  const take = (token: string): boolean => {
    if (!text.startsWith(token, at)) return false
    at += token.length
    return true
  }
  const expect = (token: string) => {
    if (!take(token)) throw errorAt(`expected ${token}`)
  }

  function key(): string[] {
    const parts: string[] = []
    do {
      match(space)
      const part = match(bareKey) ?? oneLine()
      if (part === undefined) throw errorAt('expected a key')
      parts.push(part)
      match(space)
    } while (take('.'))
    return parts
  }

  function oneLine(): string | undefined {
    const plain = match(literal)
    if (plain !== undefined) return plain.slice(1, -1)
    const quoted = match(basic)
    return quoted === undefined ? undefined : unescape(quoted.slice(1, -1))
  }

  function unescape(written: string): string {
    return written.replaceAll(
      /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|[ \t]*\r?\n\s*|([\s\S]))/g,
      (whole, short?: string, long?: string, byte?: string, letter?: string) => {
        const code = short ?? long ?? byte
        if (code !== undefined) return String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff))
        if (letter === undefined) return ''
        if (letter === '"' || letter === '\\') return letter
        const meant = escapes[letter]
        if (meant === undefined) throw errorAt(`invalid escape ${whole}`)
        return meant
      },
    )
  }

  /** A string may have up to two quotes before the closing three. */
  function block(quotes: string): string {
    const start = at
    at += 3
    for (;;) {
      const end = text.indexOf(quotes, at)
      const slash = quotes === '"""' ? text.indexOf('\\', at) : -1
      if (end === -1) {
        at = start
        throw errorAt('unterminated string')
      }
      if (slash !== -1 && slash < end) {
        at = slash + 2
        continue
      }
      at = end + 3
      for (let extra = 0; extra < 2 && text[at] === quotes[0]; extra++) at++
      const content = text.slice(start + 3, at - 3).replace(/^\r?\n/, '')
      return quotes === '"""' ? unescape(content) : content
    }
  }

  function value(depth: number): TomlValue {
    if (depth > maxDepth) throw errorAt(`nested more than ${maxDepth} levels deep`)
    if (text.startsWith('"""', at)) return block('"""')
    if (text.startsWith("'''", at)) return block("'''")
    if (take('[')) return list(depth)
    if (take('{')) return inline(depth)
    const written = oneLine() ?? match(bare)
    if (written === undefined) throw errorAt('expected a value')
    return written
  }

  function skipGap(): void {
    do match(gap)
    while (match(comment) !== undefined)
  }

  function list(depth: number): TomlValue[] {
    const items: TomlValue[] = []
    for (skipGap(); !take(']'); skipGap()) {
      items.push(value(depth + 1))
      skipGap()
      if (take(',')) continue
      expect(']')
      break
    }
    return items
  }

  function inline(depth: number): Record<string, TomlValue> {
    const pairs: [string, TomlValue][] = []
    for (skipGap(); !take('}'); skipGap()) {
      const name = key().join('.')
      expect('=')
      match(space)
      pairs.push([name, value(depth + 1)])
      skipGap()
      if (take(',')) continue
      expect('}')
      break
    }
    return Object.fromEntries(pairs)
  }

  function statement(): Omit<Statement, 'start' | 'end'> {
    if (take('[[')) {
      table = key()
      expect(']]')
      return { kind: 'list', path: table }
    }
    if (take('[')) {
      table = key()
      expect(']')
      return { kind: 'table', path: table }
    }
    const name = key()
    expect('=')
    match(space)
    return { kind: 'pair', path: [...table, ...name], value: value(0) }
  }

  while (at < text.length) {
    const start = at
    match(space)
    const isEmpty =
      match(comment) !== undefined || at === text.length || /[\r\n]/.test(text[at] ?? '')
    const parsed = isEmpty ? undefined : statement()
    match(space)
    match(comment)
    if (match(lineEnd) === undefined && at < text.length) throw errorAt('expected a line end')
    if (parsed) statements.push({ ...parsed, start, end: at })
  }
  return statements
}

type Path = readonly string[]
export type Table = Readonly<Record<string, TomlValue>>

/** The line breaks inserted before the table. */
export type Made = { readonly gap: string }

export function getTomlTable(source: Source, path: Path): Table | undefined {
  const statements = findTableStatements(source, path)
  return statements.length === 0 ? undefined : toTable(statements, path)
}

/** Replaces the table, or appends it to the file. Returns undefined if it is unchanged. */
export function setTomlTable(
  source: Source,
  path: Path,
  table: Table,
): { splices: Splice[]; made?: Made } | undefined {
  const { text } = source
  const eol = detectLineEnding(text)
  const block = formatTable(path, table, eol)
  const statements = findTableStatements(source, path)
  const [first] = statements
  if (!first) {
    const gap = gapBeforeTable(text, eol)
    return { splices: [{ at: text.length, removed: '', inserted: gap + block }], made: { gap } }
  }
  if (isDeepStrictEqual(toTable(statements, path), table)) return undefined
  const [head, ...rest] = toSplices(text, statements)
  return { splices: [{ at: first.start, removed: head?.removed ?? '', inserted: block }, ...rest] }
}

/** Removes a table and its subtables; comments between their lines stay. */
export function removeTomlTable(source: Source, path: Path, made?: Made): Splice[] | undefined {
  const { text } = source
  const statements = findTableStatements(source, path)
  const [first] = statements
  if (!first) return undefined
  const [head, ...rest] = toSplices(text, statements)
  const gap = made?.gap ?? ''
  const from = text.slice(0, first.start).endsWith(gap) ? first.start - gap.length : first.start
  const removed = text.slice(from, first.start) + (head?.removed ?? '')
  return [{ at: from, removed, inserted: '' }, ...rest]
}

function findTableStatements(source: Source, path: Path): Statement[] {
  const statements = parseToml(source)
  const name = path.join('.')
  const matches: Statement[] = []
  let inside = false
  for (const statement of statements) {
    if (statement.kind !== 'pair')
      inside = statement.kind === 'table' && startsWith(statement.path, path)
    if (inside) matches.push(statement)
    else if (
      startsWith(statement.path, path) ||
      (statement.kind !== 'table' && startsWith(path, statement.path))
    )
      throw syntaxError(source, statement.start, `${name} must be a table [${name}]`)
  }
  const heads = matches.filter((head) => head.kind === 'table' && head.path.length === path.length)
  if (heads[1]) throw syntaxError(source, heads[1].start, `duplicate table [${name}]`)
  return matches
}

const startsWith = (path: Path, start: Path) => start.every((part, index) => path[index] === part)

const toTable = (statements: readonly Statement[], path: Path): Table =>
  Object.fromEntries(
    statements.flatMap(({ kind, path: full, value }) =>
      kind === 'pair' && value !== undefined ? [[full.slice(path.length).join('.'), value]] : [],
    ),
  )

function toSplices(text: string, statements: readonly Statement[]): Splice[] {
  const runs: { start: number; end: number }[] = []
  for (const { start, end } of statements) {
    const last = runs.at(-1)
    if (last?.end === start) last.end = end
    else runs.push({ start, end })
  }
  return runs.map(({ start, end }) => ({
    at: start,
    removed: text.slice(start, end),
    inserted: '',
  }))
}

function gapBeforeTable(text: string, eol: string): string {
  if (/^\uFEFF?$/.test(text) || /^\s*\n$|\n\r?\n$/.test(text)) return ''
  return text.endsWith('\n') ? eol : eol + eol
}

const formatTable = (path: Path, table: Table, eol: string): string =>
  [
    `[${path.join('.')}]`,
    ...Object.entries(table).map(([key, value]) => `${key} = ${formatValue(value)}`),
  ]
    .map((line) => line + eol)
    .join('')

/** JSON escapes are valid in TOML, except that JSON does not escape U+007F. */
function formatValue(value: TomlValue): string {
  if (typeof value === 'string') return JSON.stringify(value).replaceAll('\u007F', '\\u007F')
  if (isList(value)) return `[${value.map(formatValue).join(', ')}]`
  const pairs = Object.entries(value).map(([key, inner]) => `${key} = ${formatValue(inner)}`)
  return `{ ${pairs.join(', ')} }`
}

const isList = (value: TomlValue): value is readonly TomlValue[] => Array.isArray(value)
