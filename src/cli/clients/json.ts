import { isDeepStrictEqual } from 'node:util'
import { printParseErrorCode, visit } from 'jsonc-parser'
import { brokenAt, isBlank, lineEndOf } from './client-file.ts'
import type { Source, Splice } from './client-file.ts'

type Node = {
  readonly kind: 'object' | 'array' | 'scalar'
  readonly start: number
  readonly end: number
  readonly items: readonly Item[]
  readonly value: unknown
}

/** A member of an object or an item of an array, from its name to its value. */
type Item = {
  readonly name?: string
  readonly start: number
  readonly node: Node
  /** Where the comma after it stands, if there is one. */
  comma?: number
  /** Where the last `//` comment before it ends: its line end must stay. */
  readonly commentEnd?: number
}

const maxDepth = 100

const messages: Readonly<Record<string, string>> = {
  InvalidSymbol: 'a value or a name in double quotes was expected here',
  PropertyNameExpected: 'a name in double quotes was expected here',
  ValueExpected: 'a value was expected here',
  ColonExpected: 'a colon was expected here',
  CommaExpected: 'a comma was expected here',
  CloseBraceExpected: 'a closing } was expected here',
  CloseBracketExpected: 'a closing ] was expected here',
  EndOfFileExpected: 'something follows the end of the document',
  UnexpectedEndOfComment: 'a comment does not end',
  UnexpectedEndOfString: 'a text does not end',
}

type Frame = {
  readonly kind: 'object' | 'array'
  readonly start: number
  readonly items: Item[]
  /** The item whose value comes next. */
  next: Omit<Item, 'node'>
}

/** Reads JSON with comments and trailing commas, as clients write it, with offsets. Returns undefined for an empty file. */
function readJson(source: Source): Node | undefined {
  const { text } = source
  if (isBlank(text)) return undefined
  const frames: Frame[] = []
  let root: Node | undefined
  let commentEnd: number | undefined

  function startItem(start: number, name?: string): void {
    const top = frames.at(-1)
    const next = {
      start,
      ...(name !== undefined && { name }),
      ...(commentEnd !== undefined && { commentEnd }),
    }
    if (top && (top.kind === 'array' || name !== undefined)) top.next = next
    commentEnd = undefined
  }
  function add(node: Node): void {
    const top = frames.at(-1)
    if (top) top.items.push({ ...top.next, node })
    else root = node
  }
  const open = (kind: Frame['kind']) => (start: number) => {
    if (frames.length > maxDepth)
      throw brokenAt(source, start, `it is nested more than ${maxDepth} levels deep`)
    startItem(start)
    frames.push({ kind, start, items: [], next: { start } })
  }
  function close(offset: number, length: number): void {
    const { kind, start, items } = frames.pop() ?? { kind: 'array', start: offset, items: [] }
    const value =
      kind === 'array'
        ? items.map(({ node }) => node.value)
        : Object.fromEntries(items.map(({ name = '', node }) => [name, node.value]))
    commentEnd = undefined
    add({ kind, start, end: offset + length, items, value })
  }

  // The parser refuses a byte order mark; a space in its place keeps the offsets.
  visit(
    text.replace(/^\uFEFF/, ' '),
    {
      onObjectBegin: open('object'),
      onArrayBegin: open('array'),
      onObjectEnd: close,
      onArrayEnd: close,
      onObjectProperty: (name, offset) => startItem(offset, name),
      onLiteralValue(value: unknown, offset, length) {
        startItem(offset)
        add({ kind: 'scalar', start: offset, end: offset + length, items: [], value })
      },
      onSeparator(character, offset) {
        commentEnd = undefined
        const last = frames.at(-1)?.items.at(-1)
        if (character === ',' && last) last.comma = offset
      },
      onComment(offset, length) {
        if (text.startsWith('//', offset)) commentEnd = offset + length
      },
      onError(code, offset) {
        const message = messages[printParseErrorCode(code)] ?? 'a text or number is not valid JSON'
        throw brokenAt(source, offset, message)
      },
    },
    { allowTrailingComma: true },
  )
  return root
}

/** A member of an object by its name, or an item of an array by its `id`. */
type Step = string | { readonly id: string }
export type Place = readonly Step[]

/** What stood before we came, so that taking our entry out leaves exactly that. */
export type Made = {
  /** How many steps of the place were there; -1 when the document itself was not. */
  readonly depth: number
  /** The brackets had no line of their own before. */
  readonly padded: boolean
}

/** The value at a place, or nothing. */
export function jsonAt(source: Source, place: Place): unknown {
  const root = readJson(source)
  if (!root) return undefined
  const found = walk(source, root, place)
  return found.length === place.length ? (found.at(-1)?.node ?? root).value : undefined
}

/** Puts a value at a place as the first of its neighbours, so that no byte of theirs changes. Nothing if it is there. */
export function putJson(
  source: Source,
  place: Place,
  value: unknown,
): { splices: Splice[]; made?: Made } | undefined {
  const { text } = source
  const root = readJson(source)
  if (!root) {
    const eol = lineEndOf(text)
    const inserted = pretty(nested(place, value), eol, '', '  ') + eol
    const made = { depth: -1, padded: false }
    return { splices: [{ at: text.length, removed: '', inserted }], made }
  }
  const found = walk(source, root, place)
  const there = found[place.length - 1]
  if (there) {
    if (isDeepStrictEqual(there.node.value, value)) return undefined
    return { splices: [replacing(text, root, there, value)] }
  }
  const step = place[found.length]
  const container = found.at(-1)?.node ?? root
  if (step === undefined) return undefined
  const rest = nested(place.slice(found.length + 1), value)
  const { splice, padded } = inserting(text, root, container, nameOf(step), rest)
  return { splices: [splice], made: { depth: found.length, padded } }
}

/** Takes out what stands at a place, and what was made for it if nothing else came to stand there. */
export function takeJson(source: Source, place: Place, made?: Made): Splice[] | undefined {
  const { text } = source
  const root = readJson(source)
  if (!root) return undefined
  const found = walk(source, root, place)
  if (found.length < place.length) return undefined
  const first = made?.depth ?? place.length - 1
  let depth = place.length - 1
  while (depth > Math.max(first, 0) && found[depth - 1]?.node.items.length === 1) depth--
  if (first === -1 && depth === 0 && root.items.length === 1) {
    const eol = lineEndOf(text)
    const end = text.startsWith(eol, root.end) ? root.end + eol.length : root.end
    return [{ at: root.start, removed: text.slice(root.start, end), inserted: '' }]
  }
  const container = found[depth - 1]?.node ?? root
  const item = found[depth]
  if (!item) return undefined
  return removing(text, container, item, made && depth === first ? made.padded : undefined)
}

/** The items along a place, as far as they are there. */
function walk(source: Source, root: Node, place: Place): Item[] {
  const found: Item[] = []
  let container = root
  for (const step of place) {
    const kind = typeof step === 'string' ? 'object' : 'array'
    const what = found.length === 0 ? 'the document' : describe(place[found.length - 1])
    if (container.kind !== kind)
      throw brokenAt(source, container.start, `${what} should be an ${kind}`)
    const [item, again] = container.items.filter(({ name, node }) =>
      typeof step === 'string' ? name === step : idOf(node) === step.id,
    )
    if (again) throw brokenAt(source, again.start, `${describe(step)} is there twice`)
    if (!item) break
    found.push(item)
    container = item.node
  }
  return found
}

const describe = (step: Step | undefined) =>
  typeof step === 'string' ? JSON.stringify(step) : `the item ${JSON.stringify(step?.id)}`

const nameOf = (step: Step) => (typeof step === 'string' ? step : undefined)

const idOf = ({ items }: Node) => items.findLast(({ name }) => name === 'id')?.node.value

const nested = (place: Place, value: unknown): unknown =>
  place.reduceRight<unknown>(
    (inner, step) => (typeof step === 'string' ? { [step]: inner } : [inner]),
    value,
  )

function replacing(text: string, root: Node, { node, start }: Item, value: unknown): Splice {
  const removed = text.slice(node.start, node.end)
  const isOneLine = !removed.includes('\n') && !text.includes('\n')
  const inserted = isOneLine
    ? JSON.stringify(value)
    : pretty(value, lineEndOf(text), indentAt(text, start), unitOf(text, root))
  return { at: node.start, removed, inserted }
}

const commentToLineEnd = /[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/[ \t]*)(?=\r?\n)/y

function inserting(
  text: string,
  root: Node,
  container: Node,
  name: string | undefined,
  value: unknown,
): { splice: Splice; padded: boolean } {
  const [first] = container.items
  const open = container.start + 1
  const isOneLine = first
    ? !text.slice(open, first.start).includes('\n')
    : !text.includes('\n') && root.items.length > 0
  if (isOneLine) {
    const lead = first ? (/^[ \t]*/.exec(text.slice(open))?.[0] ?? '') : ''
    const label = name === undefined ? '' : `${JSON.stringify(name)}:`
    const inserted = lead + label + JSON.stringify(value) + (first ? ',' : '')
    return { splice: { at: open, removed: '', inserted }, padded: false }
  }
  const eol = lineEndOf(text)
  const unit = unitOf(text, root)
  const base = indentAt(text, container.start)
  const indent = first ? indentAt(text, first.start) : base + unit
  const label = name === undefined ? '' : `${JSON.stringify(name)}: `
  commentToLineEnd.lastIndex = open
  const at = open + (commentToLineEnd.exec(text)?.[0].length ?? 0)
  const padded = !first && !text.slice(at, container.end).includes('\n')
  const end = first ? ',' : padded ? eol + base : ''
  const inserted = eol + indent + label + pretty(value, eol, indent, unit) + end
  return { splice: { at, removed: '', inserted }, padded }
}

function removing(text: string, container: Node, item: Item, padded?: boolean): Splice[] {
  const cut = (from: number, to: number): Splice => ({
    at: from,
    removed: text.slice(from, to),
    inserted: '',
  })
  const index = container.items.indexOf(item)
  const previous = container.items[index - 1]
  const isOnly = container.items.length === 1
  let end = item.comma === undefined ? item.node.end : item.comma + 1
  if (isOnly && padded) {
    const pad = lineEndOf(text) + indentAt(text, container.start)
    if (text.startsWith(pad, end)) end += pad.length
  }
  let start = item.start
  while (text[start - 1] === ' ' || text[start - 1] === '\t') start--
  const indented = start
  if (text[start - 1] === '\n') start -= text[start - 2] === '\r' ? 2 : 1
  // Else what follows us would become part of the comment above.
  if (start === item.commentEnd && !/^[ \t]*\r?\n/.test(text.slice(end))) start = indented
  const isHollow = isOnly && padded === undefined && isBlank(text.slice(container.start + 1, start))
  if (isHollow && isBlank(text.slice(end, container.end - 1)))
    return [cut(container.start + 1, container.end - 1)]
  const isLast = item.comma === undefined
  return [
    ...(isLast && previous?.comma !== undefined ? [cut(previous.comma, previous.comma + 1)] : []),
    cut(start, end),
  ]
}

/** The white space that the line of this offset begins with. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

function unitOf(text: string, root: Node): string {
  const [first] = root.items
  const isOnItsLine = first && text.slice(root.start, first.start).includes('\n')
  return (isOnItsLine && indentAt(text, first.start)) || '  '
}

const pretty = (value: unknown, eol: string, indent: string, unit: string): string =>
  JSON.stringify(value, null, unit).replaceAll('\n', eol + indent)
