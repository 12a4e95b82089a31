import { isDeepStrictEqual } from 'node:util'
import { brokenAt, lineEndOf } from './source.ts'
import type { Source, Splice } from './source.ts'
import { readToml } from './toml-reader.ts'
import type { Statement, TomlValue } from './toml-reader.ts'

type Path = readonly string[]
export type Table = Readonly<Record<string, TomlValue>>

/** What was put between the text that stood there and our table. */
export type Made = { readonly gap: string }

/** The pairs of one table, or nothing. */
export function tomlAt(source: Source, path: Path): Table | undefined {
  const ours = ownStatements(source, path)
  return ours.length === 0 ? undefined : tableOf(ours, path)
}

/** Puts a table at the end of the file, or in the place of the one that is there. Nothing if it is there already. */
export function putToml(
  source: Source,
  path: Path,
  table: Table,
): { splices: Splice[]; made?: Made } | undefined {
  const { text } = source
  const eol = lineEndOf(text)
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
export function takeToml(source: Source, path: Path, made?: Made): Splice[] | undefined {
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
  const statements = readToml(source)
  const name = path.join('.')
  const ours: Statement[] = []
  let inside = false
  for (const one of statements) {
    if (one.kind !== 'pair') inside = one.kind === 'table' && startsWith(one.path, path)
    if (inside) ours.push(one)
    else if (startsWith(one.path, path) || (one.kind !== 'table' && startsWith(path, one.path)))
      throw brokenAt(source, one.start, `${name} is not written as a table [${name}]`)
  }
  const heads = ours.filter((one) => one.kind === 'table' && one.path.length === path.length)
  if (heads[1]) throw brokenAt(source, heads[1].start, `the table [${name}] is there twice`)
  return ours
}

const startsWith = (path: Path, start: Path) => start.every((part, index) => path[index] === part)

const tableOf = (ours: readonly Statement[], path: Path): Table =>
  Object.fromEntries(
    ours.flatMap(({ kind, path: full, value }) =>
      kind === 'pair' && value !== undefined ? [[full.slice(path.length).join('.'), value]] : [],
    ),
  )

/** One cut for each run of lines. */
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
