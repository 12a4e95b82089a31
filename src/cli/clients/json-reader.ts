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
  readonly comma?: number
  /** Where the last `//` comment before it ends: its line end must stay. */
  readonly commentEnd?: number
}

const deepest = 100
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const blank = /[ \t\r\n]+/y

/** JSON as clients write it, with comments and trailing commas, each part with its place. Nothing for an empty file. */
export function readJson(source: Source): Node | undefined {
  const { text } = source
  if (isBlank(text)) return undefined
  let at = text.startsWith('\uFEFF') ? 1 : 0
  let commentEnd: number | undefined
  const fault = (what: string) => brokenAt(source, at, what)
  const expected = (what: string) =>
    fault(at < text.length ? `${what} was expected here` : `${what} is missing at its end`)

  function match(form: RegExp): string | undefined {
    form.lastIndex = at
    const found = form.exec(text)?.[0]
    if (found !== undefined) at += found.length
    return found
  }

  function skip(): void {
    commentEnd = undefined
    for (;;) {
      match(blank)
      if (text.startsWith('//', at)) {
        const end = text.slice(at).search(/[\r\n]/)
        at = end === -1 ? text.length : at + end
        commentEnd = at
      } else if (text.startsWith('/*', at)) {
        const end = text.indexOf('*/', at + 2)
        if (end === -1) throw fault('a comment does not end')
        at = end + 2
      } else return
    }
  }

  function string(): string {
    const start = at
    let end = start
    do {
      end = text.indexOf('"', end + 1)
      if (end === -1) throw fault('a text does not end')
    } while (isEscaped(end))
    try {
      const value: unknown = JSON.parse(text.slice(start, end + 1))
      at = end + 1
      return String(value)
    } catch {
      throw fault('a text is not valid JSON')
    }
  }

  function isEscaped(quote: number): boolean {
    let before = quote
    while (text[before - 1] === '\\') before--
    return (quote - before) % 2 === 1
  }

  function value(depth: number): Node {
    const start = at
    if (depth > deepest) throw fault(`it is nested more than ${deepest} levels deep`)
    const open = text[at]
    if (open === '"') {
      const content = string()
      return { kind: 'scalar', start, end: at, items: [], value: content }
    }
    if (open === '{' || open === '[') return container(open, depth)
    const written = match(scalar)
    if (written === undefined) throw expected('a value')
    return { kind: 'scalar', start, end: at, items: [], value: JSON.parse(written) }
  }

  function container(open: '{' | '[', depth: number): Node {
    const start = at
    const close = open === '{' ? '}' : ']'
    const items: Item[] = []
    at++
    for (;;) {
      skip()
      if (text[at] === close) break
      if (items.length > 0 && items.at(-1)?.comma === undefined)
        throw expected(`a comma or ${close}`)
      const before = commentEnd
      const begin = at
      const name = open === '{' ? member() : undefined
      const node = value(depth + 1)
      skip()
      const comma = text[at] === ',' ? at++ : undefined
      items.push({
        start: begin,
        node,
        ...(name !== undefined && { name }),
        ...(comma !== undefined && { comma }),
        ...(before !== undefined && { commentEnd: before }),
      })
    }
    at++
    const plain =
      open === '['
        ? items.map(({ node }) => node.value)
        : Object.fromEntries(items.map(({ name = '', node }) => [name, node.value]))
    return { kind: open === '{' ? 'object' : 'array', start, end: at, items, value: plain }
  }

  function member(): string {
    if (text[at] !== '"') throw expected('a name in double quotes')
    const name = string()
    skip()
    if (text[at] !== ':') throw expected('a colon')
    at++
    skip()
    return name
  }

  skip()
  const root = value(0)
  skip()
  if (at < text.length) throw fault('something follows the end of the document')
  return root
}
