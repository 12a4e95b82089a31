import { printParseErrorCode, visit } from 'jsonc-parser'
import { brokenAt, isBlank } from './source.ts'
import type { Source } from './source.ts'

export type Node = {
  readonly kind: 'object' | 'array' | 'scalar'
  readonly start: number
  readonly end: number
  readonly items: readonly Item[]
  readonly value: unknown
}

/** A member of an object or an item of an array, from its name to its value. */
export type Item = {
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
export function readJson(source: Source): Node | undefined {
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
