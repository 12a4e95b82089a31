import { isDeepStrictEqual } from 'node:util'
import { syntaxError, detectLineEnding } from './client-file.ts'
import type { Source, Splice } from './client-file.ts'

type TomlValue = string | readonly TomlValue[] | { readonly [key: string]: TomlValue }

/** A header or a pair, with its whole lines. */
export type Statement = {
  readonly kind: 'table' | 'list' | 'pair'
  /** From the root: a pair's includes that of its table. */
  readonly path: readonly string[]
  readonly start: number
  readonly end: number
  /** A pair's; what is no text, list or inline table is given as it is written. */
  readonly value?: TomlValue
}

const deepest = 100
const space = /[ \t]*/y
const gap = /[ \t\r\n]*/y
const comment = /#[^\r\n]*/y
const lineEnd = /\r?\n/y
const bareKey = /[A-Za-z0-9_-]+/y
const literal = /'[^'\r\n]*'/y
const basic = /"(?:[^"\\\r\n]|\\.)*"/y
// Numbers, dates and words: it is enough to know where they end.
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
  const fault = (what: string) => syntaxError(source, at, what)

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
  const need = (token: string) => {
    if (!take(token)) throw fault(`${token} was expected here`)
  }

  function key(): string[] {
    const parts: string[] = []
    do {
      match(space)
      const part = match(bareKey) ?? oneLine()
      if (part === undefined) throw fault('a key was expected here')
      parts.push(part)
      match(space)
    } while (take('.'))
    return parts
  }

  function oneLine(): string | undefined {
    const plain = match(literal)
    if (plain !== undefined) return plain.slice(1, -1)
    const quoted = match(basic)
    return quoted === undefined ? undefined : unescaped(quoted.slice(1, -1))
  }

  function unescaped(written: string): string {
    return written.replaceAll(
      /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|[ \t]*\r?\n\s*|([\s\S]))/g,
      (whole, short?: string, long?: string, byte?: string, letter?: string) => {
        const code = short ?? long ?? byte
        if (code !== undefined) return String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff))
        if (letter === undefined) return ''
        if (letter === '"' || letter === '\\') return letter
        const meant = escapes[letter]
        if (meant === undefined) throw fault(`${whole} is no escape`)
        return meant
      },
    )
  }

  /** Up to two quotes may stand directly before the closing three. */
  function block(quotes: string): string {
    const start = at
    at += 3
    for (;;) {
      const end = text.indexOf(quotes, at)
      const slash = quotes === '"""' ? text.indexOf('\\', at) : -1
      if (end === -1) {
        at = start
        throw fault('a text does not end')
      }
      if (slash !== -1 && slash < end) {
        at = slash + 2
        continue
      }
      at = end + 3
      for (let extra = 0; extra < 2 && text[at] === quotes[0]; extra++) at++
      const content = text.slice(start + 3, at - 3).replace(/^\r?\n/, '')
      return quotes === '"""' ? unescaped(content) : content
    }
  }

  function value(depth: number): TomlValue {
    if (depth > deepest) throw fault(`it is nested more than ${deepest} levels deep`)
    if (text.startsWith('"""', at)) return block('"""')
    if (text.startsWith("'''", at)) return block("'''")
    if (take('[')) return list(depth)
    if (take('{')) return inline(depth)
    const written = oneLine() ?? match(bare)
    if (written === undefined) throw fault('a value was expected here')
    return written
  }

  function between(): void {
    do match(gap)
    while (match(comment) !== undefined)
  }

  function list(depth: number): TomlValue[] {
    const items: TomlValue[] = []
    for (between(); !take(']'); between()) {
      items.push(value(depth + 1))
      between()
      if (take(',')) continue
      need(']')
      break
    }
    return items
  }

  function inline(depth: number): Record<string, TomlValue> {
    const pairs: [string, TomlValue][] = []
    for (between(); !take('}'); between()) {
      const name = key().join('.')
      need('=')
      match(space)
      pairs.push([name, value(depth + 1)])
      between()
      if (take(',')) continue
      need('}')
      break
    }
    return Object.fromEntries(pairs)
  }

  function statement(): Omit<Statement, 'start' | 'end'> {
    if (take('[[')) {
      table = key()
      need(']]')
      return { kind: 'list', path: table }
    }
    if (take('[')) {
      table = key()
      need(']')
      return { kind: 'table', path: table }
    }
    const name = key()
    need('=')
    match(space)
    return { kind: 'pair', path: [...table, ...name], value: value(0) }
  }

  while (at < text.length) {
    const start = at
    match(space)
    const isEmpty =
      match(comment) !== undefined || at === text.length || /[\r\n]/.test(text[at] ?? '')
    const found = isEmpty ? undefined : statement()
    match(space)
    match(comment)
    if (match(lineEnd) === undefined && at < text.length)
      throw fault('a line end was expected here')
    if (found) statements.push({ ...found, start, end: at })
  }
  return statements
}

type Path = readonly string[]
export type Table = Readonly<Record<string, TomlValue>>

/** What was put between the text that stood there and our table. */
export type Made = { readonly gap: string }

export function getTomlTable(source: Source, path: Path): Table | undefined {
  const ours = ownStatements(source, path)
  return ours.length === 0 ? undefined : tableOf(ours, path)
}

/** Puts a table at the end of the file, or in the place of the one that is there. Nothing if it is there already. */
export function setTomlTable(
  source: Source,
  path: Path,
  table: Table,
): { splices: Splice[]; made?: Made } | undefined {
  const { text } = source
  const eol = detectLineEnding(text)
  const block = written(path, table, eol)
  const ours = ownStatements(source, path)
  const [first] = ours
  if (!first) {
    const gap = gapAfter(text, eol)
    return { splices: [{ at: text.length, removed: '', inserted: gap + block }], made: { gap } }
  }
  if (isDeepStrictEqual(tableOf(ours, path), table)) return undefined
  const [head, ...rest] = cuts(text, ours)
  return { splices: [{ at: first.start, removed: head?.removed ?? '', inserted: block }, ...rest] }
}

/** Takes out a table and those below it; comments between their lines are people's, and stay. */
export function removeTomlTable(source: Source, path: Path, made?: Made): Splice[] | undefined {
  const { text } = source
  const ours = ownStatements(source, path)
  const [first] = ours
  if (!first) return undefined
  const [head, ...rest] = cuts(text, ours)
  const gap = made?.gap ?? ''
  const from = text.slice(0, first.start).endsWith(gap) ? first.start - gap.length : first.start
  const removed = text.slice(from, first.start) + (head?.removed ?? '')
  return [{ at: from, removed, inserted: '' }, ...rest]
}

function ownStatements(source: Source, path: Path): Statement[] {
  const statements = parseToml(source)
  const name = path.join('.')
  const ours: Statement[] = []
  let inside = false
  for (const one of statements) {
    if (one.kind !== 'pair') inside = one.kind === 'table' && startsWith(one.path, path)
    if (inside) ours.push(one)
    else if (startsWith(one.path, path) || (one.kind !== 'table' && startsWith(path, one.path)))
      throw syntaxError(source, one.start, `${name} is not written as a table [${name}]`)
  }
  const heads = ours.filter((one) => one.kind === 'table' && one.path.length === path.length)
  if (heads[1]) throw syntaxError(source, heads[1].start, `the table [${name}] is there twice`)
  return ours
}

const startsWith = (path: Path, start: Path) => start.every((part, index) => path[index] === part)

const tableOf = (ours: readonly Statement[], path: Path): Table =>
  Object.fromEntries(
    ours.flatMap(({ kind, path: full, value }) =>
      kind === 'pair' && value !== undefined ? [[full.slice(path.length).join('.'), value]] : [],
    ),
  )

function cuts(text: string, statements: readonly Statement[]): Splice[] {
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

function gapAfter(text: string, eol: string): string {
  if (/^\uFEFF?$/.test(text) || /^\s*\n$|\n\r?\n$/.test(text)) return ''
  return text.endsWith('\n') ? eol : eol + eol
}

const written = (path: Path, table: Table, eol: string): string =>
  [
    `[${path.join('.')}]`,
    ...Object.entries(table).map(([key, value]) => `${key} = ${spelt(value)}`),
  ]
    .map((line) => line + eol)
    .join('')

/** JSON's escapes are TOML's too, but for the one control character that JSON leaves as it is. */
function spelt(value: TomlValue): string {
  if (typeof value === 'string') return JSON.stringify(value).replaceAll('\u007F', '\\u007F')
  if (isList(value)) return `[${value.map(spelt).join(', ')}]`
  const pairs = Object.entries(value).map(([key, inner]) => `${key} = ${spelt(inner)}`)
  return `{ ${pairs.join(', ')} }`
}

const isList = (value: TomlValue): value is readonly TomlValue[] => Array.isArray(value)
