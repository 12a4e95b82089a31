import { isDeepStrictEqual } from 'node:util'
import { createScanner, parse, parseTree, printParseErrorCode, visit } from 'jsonc-parser'
import type { JSONPath, Node } from 'jsonc-parser'
import { syntaxError, isBlank, detectLineEnding } from './client-file.ts'
import type { Source, Splice } from './client-file.ts'

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

const dialect = { allowTrailingComma: true }

/** Reads JSON with comments and trailing commas, with offsets. Returns undefined for an empty file. */
function parseJson(source: Source): Node | undefined {
  if (isBlank(source.text)) return undefined
  // The parser refuses a byte order mark; a space in its place keeps the offsets.
  const text = source.text.replace(/^\uFEFF/, ' ')
  const open = (start: number, _: number, _line: number, _column: number, path: () => JSONPath) => {
    if (path().length > maxDepth)
      throw syntaxError(source, start, `it is nested more than ${maxDepth} levels deep`)
  }
  // First: building the tree of a file that is nested too deep would exhaust the stack.
  visit(
    text,
    {
      onObjectBegin: open,
      onArrayBegin: open,
      onError(code, offset) {
        const message = messages[printParseErrorCode(code)] ?? 'a text or number is not valid JSON'
        throw syntaxError(source, offset, message)
      },
    },
    dialect,
  )
  return parseTree(text, [], dialect)
}

const endOf = ({ offset, length }: Node) => offset + length
const itemsOf = ({ children = [] }: Node) => children

/** The value of a member of an object, or an item of an array itself. */
const nodeOf = (item: Node): Node => (item.type === 'property' && item.children?.[1]) || item

const valueIn = (text: string, node: Node): unknown =>
  parse(text.slice(node.offset, endOf(node)), [], dialect)

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

export function getJsonValue(source: Source, place: Place): unknown {
  const root = parseJson(source)
  if (!root) return undefined
  const found = walk(source, root, place)
  if (found.length < place.length) return undefined
  return valueIn(source.text, nodeOf(found.at(-1) ?? root))
}

/** Puts a value at a place as the first of its neighbours, so that no byte of theirs changes. Nothing if it is there. */
export function setJsonValue(
  source: Source,
  place: Place,
  value: unknown,
): { splices: Splice[]; made?: Made } | undefined {
  const { text } = source
  const root = parseJson(source)
  if (!root) {
    const eol = detectLineEnding(text)
    const inserted = pretty(nested(place, value), eol, '', '  ') + eol
    const made = { depth: -1, padded: false }
    return { splices: [{ at: text.length, removed: '', inserted }], made }
  }
  const found = walk(source, root, place)
  const there = found[place.length - 1]
  if (there) {
    if (isDeepStrictEqual(valueIn(text, nodeOf(there)), value)) return undefined
    return { splices: [replacing(text, root, there, value)] }
  }
  const step = place[found.length]
  const container = nodeOf(found.at(-1) ?? root)
  if (step === undefined) return undefined
  const rest = nested(place.slice(found.length + 1), value)
  const { splice, padded } = inserting(
    text,
    root,
    container,
    typeof step === 'string' ? step : undefined,
    rest,
  )
  return { splices: [splice], made: { depth: found.length, padded } }
}

/** Takes out what stands at a place, and what was made for it if nothing else came to stand there. */
export function removeJsonValue(source: Source, place: Place, made?: Made): Splice[] | undefined {
  const { text } = source
  const root = parseJson(source)
  if (!root) return undefined
  const found = walk(source, root, place)
  if (found.length < place.length) return undefined
  const first = made?.depth ?? place.length - 1
  let depth = place.length - 1
  const isAlone = (item: Node | undefined) => item && itemsOf(nodeOf(item)).length === 1
  while (depth > Math.max(first, 0) && isAlone(found[depth - 1])) depth--
  if (first === -1 && depth === 0 && itemsOf(root).length === 1) {
    const eol = detectLineEnding(text)
    const end = endOf(root) + (text.startsWith(eol, endOf(root)) ? eol.length : 0)
    return [{ at: root.offset, removed: text.slice(root.offset, end), inserted: '' }]
  }
  const container = nodeOf(found[depth - 1] ?? root)
  const item = found[depth]
  if (!item) return undefined
  return removing(text, container, item, made && depth === first ? made.padded : undefined)
}

/** The items along a place, as far as they are there. */
function walk(source: Source, root: Node, place: Place): Node[] {
  const found: Node[] = []
  let container = root
  for (const step of place) {
    const kind = typeof step === 'string' ? 'object' : 'array'
    const what = found.length === 0 ? 'the document' : describe(place[found.length - 1])
    if (container.type !== kind)
      throw syntaxError(source, container.offset, `${what} should be an ${kind}`)
    const [item, again] = itemsOf(container).filter((one) =>
      typeof step === 'string' ? nameIn(one) === step : idIn(one) === step.id,
    )
    if (again) throw syntaxError(source, again.offset, `${describe(step)} is there twice`)
    if (!item) break
    found.push(item)
    container = nodeOf(item)
  }
  return found
}

const describe = (step: Step | undefined) =>
  typeof step === 'string' ? JSON.stringify(step) : `the item ${JSON.stringify(step?.id)}`

const nameIn = (member: Node): unknown => member.children?.[0]?.value

const idIn = (item: Node): unknown =>
  itemsOf(item).findLast((member) => nameIn(member) === 'id')?.children?.[1]?.value

const nested = (place: Place, value: unknown): unknown =>
  place.reduceRight<unknown>(
    (inner, step) => (typeof step === 'string' ? { [step]: inner } : [inner]),
    value,
  )

function replacing(text: string, root: Node, item: Node, value: unknown): Splice {
  const { offset: at } = nodeOf(item)
  const removed = text.slice(at, endOf(item))
  const isOneLine = !removed.includes('\n') && !text.includes('\n')
  const inserted = isOneLine
    ? JSON.stringify(value)
    : pretty(value, detectLineEnding(text), indentAt(text, item.offset), unitOf(text, root))
  return { at, removed, inserted }
}

const commentToLineEnd = /[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/[ \t]*)(?=\r?\n)/y

function inserting(
  text: string,
  root: Node,
  container: Node,
  name: string | undefined,
  value: unknown,
): { splice: Splice; padded: boolean } {
  const [first] = itemsOf(container)
  const open = container.offset + 1
  const isOneLine = first
    ? !text.slice(open, first.offset).includes('\n')
    : !text.includes('\n') && itemsOf(root).length > 0
  if (isOneLine) {
    const lead = first ? (/^[ \t]*/.exec(text.slice(open))?.[0] ?? '') : ''
    const label = name === undefined ? '' : `${JSON.stringify(name)}:`
    const inserted = lead + label + JSON.stringify(value) + (first ? ',' : '')
    return { splice: { at: open, removed: '', inserted }, padded: false }
  }
  const eol = detectLineEnding(text)
  const unit = unitOf(text, root)
  const base = indentAt(text, container.offset)
  const indent = first ? indentAt(text, first.offset) : base + unit
  const label = name === undefined ? '' : `${JSON.stringify(name)}: `
  commentToLineEnd.lastIndex = open
  const at = open + (commentToLineEnd.exec(text)?.[0].length ?? 0)
  const padded = !first && !text.slice(at, endOf(container)).includes('\n')
  const end = first ? ',' : padded ? eol + base : ''
  const inserted = eol + indent + label + pretty(value, eol, indent, unit) + end
  return { splice: { at, removed: '', inserted }, padded }
}

function removing(text: string, container: Node, item: Node, padded?: boolean): Splice[] {
  const cut = (from: number, to: number): Splice => ({
    at: from,
    removed: text.slice(from, to),
    inserted: '',
  })
  const items = itemsOf(container)
  const previous = items[items.indexOf(item) - 1]
  const isOnly = items.length === 1
  const open = container.offset + 1
  const comma = commaAfter(text, item)
  let end = comma === undefined ? endOf(item) : comma + 1
  if (isOnly && padded) {
    const pad = detectLineEnding(text) + indentAt(text, container.offset)
    if (text.startsWith(pad, end)) end += pad.length
  }
  let start = item.offset
  while (text[start - 1] === ' ' || text[start - 1] === '\t') start--
  const indented = start
  if (text[start - 1] === '\n') start -= text[start - 2] === '\r' ? 2 : 1
  // Else what follows us would become part of the comment above.
  const isBelowComment = endsComment(text, previous ? endOf(previous) : open, start)
  if (isBelowComment && !/^[ \t]*\r?\n/.test(text.slice(end))) start = indented
  const isHollow = isOnly && padded === undefined && isBlank(text.slice(open, start))
  if (isHollow && isBlank(text.slice(end, endOf(container) - 1)))
    return [cut(open, endOf(container) - 1)]
  const before = comma === undefined && previous ? commaAfter(text, previous) : undefined
  return [...(before === undefined ? [] : [cut(before, before + 1)]), cut(start, end)]
}

function commaAfter(text: string, item: Node): number | undefined {
  const scanner = createScanner(text, true)
  scanner.setPosition(endOf(item))
  scanner.scan()
  const at = scanner.getTokenOffset()
  return text[at] === ',' ? at : undefined
}

/** Whether a `//` comment after `from` ends at `end`: its line end must stay. */
function endsComment(text: string, from: number, end: number): boolean {
  const scanner = createScanner(text)
  scanner.setPosition(from)
  while (scanner.getPosition() < end) scanner.scan()
  const last = scanner.getTokenOffset()
  return last >= from && scanner.getPosition() === end && text.startsWith('//', last)
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

function unitOf(text: string, root: Node): string {
  const [first] = itemsOf(root)
  const isOnItsLine = first && text.slice(root.offset, first.offset).includes('\n')
  return (isOnItsLine && indentAt(text, first.offset)) || '  '
}

const pretty = (value: unknown, eol: string, indent: string, unit: string): string =>
  JSON.stringify(value, null, unit).replaceAll('\n', eol + indent)
