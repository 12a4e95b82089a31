import { isDeepStrictEqual } from 'node:util'
import { createScanner, parse, parseTree, printParseErrorCode, visit } from 'jsonc-parser'
import type { JSONPath, Node } from 'jsonc-parser'
import { syntaxError, isBlank, detectLineEnding } from './client-file.ts'
import type { Source, Splice } from './client-file.ts'

const maxDepth = 100

const messages: Readonly<Record<string, string>> = {
  InvalidSymbol: 'expected a value or a name in double quotes',
  PropertyNameExpected: 'expected a name in double quotes',
  ValueExpected: 'expected a value',
  ColonExpected: 'expected a colon',
  CommaExpected: 'expected a comma',
  CloseBraceExpected: 'expected a closing }',
  CloseBracketExpected: 'expected a closing ]',
  EndOfFileExpected: 'unexpected text after the document',
  UnexpectedEndOfComment: 'unterminated comment',
  UnexpectedEndOfString: 'unterminated string',
}

const dialect = { allowTrailingComma: true }

/** Parses JSON with comments and trailing commas, with offsets. Returns undefined for an empty file. */
function parseJson(source: Source): Node | undefined {
  if (isBlank(source.text)) return undefined
  // The parser refuses a byte order mark; a space in its place keeps the offsets.
  const text = source.text.replace(/^\uFEFF/, ' ')
  const open = (start: number, _: number, _line: number, _column: number, path: () => JSONPath) => {
    if (path().length > maxDepth)
      throw syntaxError(source, start, `nested more than ${maxDepth} levels deep`)
  }
  // First: building the tree of a too deeply nested file would exhaust the stack.
  visit(
    text,
    {
      onObjectBegin: open,
      onArrayBegin: open,
      onError(code, offset) {
        const message = messages[printParseErrorCode(code)] ?? 'invalid string or number'
        throw syntaxError(source, offset, message)
      },
    },
    dialect,
  )
  return parseTree(text, [], dialect)
}

const endOffset = ({ offset, length }: Node) => offset + length
const listItems = ({ children = [] }: Node) => children

/** Returns the value of an object member, or an array item itself. */
const toValueNode = (item: Node): Node => (item.type === 'property' && item.children?.[1]) || item

const parseNode = (text: string, node: Node): unknown =>
  parse(text.slice(node.offset, endOffset(node)), [], dialect)

/** A member of an object by its name, or an item of an array by its `id`. */
type Step = string | { readonly id: string }
export type Place = readonly Step[]

/** Undo data: removing the entry restores the original text exactly. */
export type Made = {
  /** Number of existing steps of the place; -1 if the document was empty. */
  readonly depth: number
  /** True if the brackets got their own line. */
  readonly padded: boolean
}

export function getJsonValue(source: Source, place: Place): unknown {
  const root = parseJson(source)
  if (!root) return undefined
  const items = findPath(source, root, place)
  if (items.length < place.length) return undefined
  return parseNode(source.text, toValueNode(items.at(-1) ?? root))
}

/** Inserts a value as the first among its siblings, so that their bytes do not change. Returns undefined if present. */
export function setJsonValue(
  source: Source,
  place: Place,
  value: unknown,
): { splices: Splice[]; made?: Made } | undefined {
  const { text } = source
  const root = parseJson(source)
  if (!root) {
    const eol = detectLineEnding(text)
    const inserted = formatJson(wrapValue(place, value), eol, '', '  ') + eol
    const made = { depth: -1, padded: false }
    return { splices: [{ at: text.length, removed: '', inserted }], made }
  }
  const items = findPath(source, root, place)
  const existing = items[place.length - 1]
  if (existing) {
    if (isDeepStrictEqual(parseNode(text, toValueNode(existing)), value)) return undefined
    return { splices: [buildReplacement(text, root, existing, value)] }
  }
  const step = place[items.length]
  const container = toValueNode(items.at(-1) ?? root)
  if (step === undefined) return undefined
  const rest = wrapValue(place.slice(items.length + 1), value)
  const { splice, padded } = buildInsertion(
    text,
    root,
    container,
    typeof step === 'string' ? step : undefined,
    rest,
  )
  return { splices: [splice], made: { depth: items.length, padded } }
}

/** Removes a value, and the containers created for it if nothing else was added to them. */
export function removeJsonValue(source: Source, place: Place, made?: Made): Splice[] | undefined {
  const { text } = source
  const root = parseJson(source)
  if (!root) return undefined
  const items = findPath(source, root, place)
  if (items.length < place.length) return undefined
  const first = made?.depth ?? place.length - 1
  let depth = place.length - 1
  const isAlone = (item: Node | undefined) => item && listItems(toValueNode(item)).length === 1
  while (depth > Math.max(first, 0) && isAlone(items[depth - 1])) depth--
  if (first === -1 && depth === 0 && listItems(root).length === 1) {
    const eol = detectLineEnding(text)
    const end = endOffset(root) + (text.startsWith(eol, endOffset(root)) ? eol.length : 0)
    return [{ at: root.offset, removed: text.slice(root.offset, end), inserted: '' }]
  }
  const container = toValueNode(items[depth - 1] ?? root)
  const item = items[depth]
  if (!item) return undefined
  return buildRemoval(text, container, item, made && depth === first ? made.padded : undefined)
}

/** Returns the existing items along a place. */
function findPath(source: Source, root: Node, place: Place): Node[] {
  const items: Node[] = []
  let container = root
  for (const step of place) {
    const kind = typeof step === 'string' ? 'object' : 'array'
    const name = items.length === 0 ? 'the document' : describeStep(place[items.length - 1])
    if (container.type !== kind)
      throw syntaxError(source, container.offset, `${name} must be an ${kind}`)
    const [item, duplicate] = listItems(container).filter((candidate) =>
      typeof step === 'string' ? memberName(candidate) === step : itemId(candidate) === step.id,
    )
    if (duplicate) throw syntaxError(source, duplicate.offset, `duplicate ${describeStep(step)}`)
    if (!item) break
    items.push(item)
    container = toValueNode(item)
  }
  return items
}

const describeStep = (step: Step | undefined) =>
  typeof step === 'string' ? JSON.stringify(step) : `item ${JSON.stringify(step?.id)}`

const memberName = (member: Node): unknown => member.children?.[0]?.value

const itemId = (item: Node): unknown =>
  listItems(item).findLast((member) => memberName(member) === 'id')?.children?.[1]?.value

const wrapValue = (place: Place, value: unknown): unknown =>
  place.reduceRight<unknown>(
    (inner, step) => (typeof step === 'string' ? { [step]: inner } : [inner]),
    value,
  )

function buildReplacement(text: string, root: Node, item: Node, value: unknown): Splice {
  const { offset: at } = toValueNode(item)
  const removed = text.slice(at, endOffset(item))
  const isOneLine = !removed.includes('\n') && !text.includes('\n')
  const inserted = isOneLine
    ? JSON.stringify(value)
    : formatJson(
        value,
        detectLineEnding(text),
        indentAt(text, item.offset),
        detectIndent(text, root),
      )
  return { at, removed, inserted }
}

const commentToLineEnd = /[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/[ \t]*)(?=\r?\n)/y

function buildInsertion(
  text: string,
  root: Node,
  container: Node,
  name: string | undefined,
  value: unknown,
): { splice: Splice; padded: boolean } {
  const [first] = listItems(container)
  const open = container.offset + 1
  const isOneLine = first
    ? !text.slice(open, first.offset).includes('\n')
    : !text.includes('\n') && listItems(root).length > 0
  if (isOneLine) {
    const lead = first ? (/^[ \t]*/.exec(text.slice(open))?.[0] ?? '') : ''
    const label = name === undefined ? '' : `${JSON.stringify(name)}:`
    const inserted = lead + label + JSON.stringify(value) + (first ? ',' : '')
    return { splice: { at: open, removed: '', inserted }, padded: false }
  }
  const eol = detectLineEnding(text)
  const unit = detectIndent(text, root)
  const base = indentAt(text, container.offset)
  const indent = first ? indentAt(text, first.offset) : base + unit
  const label = name === undefined ? '' : `${JSON.stringify(name)}: `
  commentToLineEnd.lastIndex = open
  const at = open + (commentToLineEnd.exec(text)?.[0].length ?? 0)
  const padded = !first && !text.slice(at, endOffset(container)).includes('\n')
  const end = first ? ',' : padded ? eol + base : ''
  const inserted = eol + indent + label + formatJson(value, eol, indent, unit) + end
  return { splice: { at, removed: '', inserted }, padded }
}

function buildRemoval(text: string, container: Node, item: Node, padded?: boolean): Splice[] {
  const remove = (from: number, to: number): Splice => ({
    at: from,
    removed: text.slice(from, to),
    inserted: '',
  })
  const items = listItems(container)
  const previous = items[items.indexOf(item) - 1]
  const isOnly = items.length === 1
  const open = container.offset + 1
  const comma = commaAfter(text, item)
  let end = comma === undefined ? endOffset(item) : comma + 1
  if (isOnly && padded) {
    const pad = detectLineEnding(text) + indentAt(text, container.offset)
    if (text.startsWith(pad, end)) end += pad.length
  }
  let start = item.offset
  while (text[start - 1] === ' ' || text[start - 1] === '\t') start--
  const indented = start
  if (text[start - 1] === '\n') start -= text[start - 2] === '\r' ? 2 : 1
  // Otherwise the following text would become part of the comment above.
  const isBelowComment = endsComment(text, previous ? endOffset(previous) : open, start)
  if (isBelowComment && !/^[ \t]*\r?\n/.test(text.slice(end))) start = indented
  const isHollow = isOnly && padded === undefined && isBlank(text.slice(open, start))
  if (isHollow && isBlank(text.slice(end, endOffset(container) - 1)))
    return [remove(open, endOffset(container) - 1)]
  const before = comma === undefined && previous ? commaAfter(text, previous) : undefined
  return [...(before === undefined ? [] : [remove(before, before + 1)]), remove(start, end)]
}

function commaAfter(text: string, item: Node): number | undefined {
  const scanner = createScanner(text, true)
  scanner.setPosition(endOffset(item))
  scanner.scan()
  const at = scanner.getTokenOffset()
  return text[at] === ',' ? at : undefined
}

/** True if a `//` comment after `from` ends at `end`: its line break must stay. */
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

function detectIndent(text: string, root: Node): string {
  const [first] = listItems(root)
  const isOnItsLine = first && text.slice(root.offset, first.offset).includes('\n')
  return (isOnItsLine && indentAt(text, first.offset)) || '  '
}

const formatJson = (value: unknown, eol: string, indent: string, unit: string): string =>
  JSON.stringify(value, null, unit).replaceAll('\n', eol + indent)
