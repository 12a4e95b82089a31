import { emitPair, emitScalar } from './emit.ts'
import {
  isBlockScalar,
  isMissing,
  isQuoted,
  lineEnd,
  lineStart,
  nodesOf,
  trimmedEnd,
} from './nodes.ts'
import type { Nodes, Pair } from './nodes.ts'
import { SCALAR_STYLE } from 'js-yaml'

/** Fields of an item as they shall be; `undefined` for those that go. */
export type Fields = Readonly<Record<string, unknown>>

type Cut = { readonly from: number; readonly to: number; readonly text: string }

/**
 * The text of one item of a block list with some fields changed, and every other byte as it was: comments,
 * order, quotes, odd spaces. Nothing where the text is too unusual for that; it is then written anew.
 */
export function editItem(text: string, fields: Fields, eol: string): string | undefined {
  let nodes: Nodes
  try {
    nodes = nodesOf(text)
  } catch {
    // Such as an alias of an anchor that stands elsewhere.
    return undefined
  }
  const [item = -1, ...more] = nodes.isSequence(nodes.root) ? nodes.children(nodes.root) : []
  if (more.length > 0 || !nodes.isMap(item) || !nodes.isBlock(item)) return undefined
  const pairs = nodes.pairs(item)
  const [first] = pairs ?? []
  if (!pairs || !first) return undefined
  const indent = first.keyStart - lineStart(text, first.keyStart)

  const cuts: Cut[] = []
  const added: string[] = []
  for (const [key, value] of Object.entries(fields)) {
    const at = pairs.findIndex((pair) => pair.key === key)
    const pair = pairs[at]
    if (!pair) {
      if (value !== undefined) added.push(' '.repeat(indent) + emitPair(key, value, indent, eol))
      continue
    }
    const next = pairs[at + 1]
    const end = pairEnd(
      text,
      nodes,
      pair,
      next ? lineStart(text, next.keyStart) : text.length,
      indent,
    )
    if (value === undefined) {
      if (pair === first) return undefined
      cuts.push({ from: lineStart(text, pair.keyStart), to: end, text: '' })
      continue
    }
    cuts.push(
      inPlace(text, nodes, pair, value) ?? {
        from: pair.keyStart,
        to: end,
        text: emitPair(key, value, indent, eol),
      },
    )
  }
  if (added.length > 0) {
    // What is long stands last: a sprint's stories, else the end of the item.
    const stories = pairs.find(({ key }) => key === 'stories')
    const isFirst = stories === first
    const last = pairs.at(-1) ?? first
    const at =
      stories && !isFirst
        ? lineStart(text, stories.keyStart)
        : pairEnd(text, nodes, last, text.length, indent)
    const isOpen = at > 0 && text[at - 1] !== '\n'
    cuts.push({ from: at, to: at, text: (isOpen ? eol : '') + added.join('') })
  }
  return applied(text, cuts)
}

/** A word for a word on the same line, what follows it untouched. */
function inPlace(text: string, nodes: Nodes, pair: Pair, value: unknown): Cut | undefined {
  const old = nodes.scalar(pair.value)
  if (!old || isBlockScalar(old) || old.tagStart >= 0 || old.anchorStart >= 0) return undefined
  const quotes = isQuoted(old)
    ? old.style === SCALAR_STYLE.SINGLE_QUOTED
      ? 'single'
      : 'double'
    : undefined
  const word = emitScalar(value, quotes)
  if (word === undefined) return undefined
  if (isMissing(old)) {
    const colon = text.indexOf(':', pair.keyEnd) + 1
    return { from: colon, to: colon, text: ` ${word}` }
  }
  const quote = quotes ? 1 : 0
  const [from, to] = [old.valueStart - quote, old.valueEnd + quote]
  return text.slice(from, to).includes('\n') ? undefined : { from, to, text: word }
}

function pairEnd(text: string, nodes: Nodes, pair: Pair, bound: number, indent: number): number {
  const scalar = nodes.scalar(pair.value)
  if (scalar && isBlockScalar(scalar)) return Math.min(scalar.valueEnd, bound)
  const last = Math.max(nodes.lastEnd(pair.value), pair.keyEnd)
  // A text in a block may end its line already.
  const least = text[last - 1] === '\n' ? last : lineEnd(text, last)
  return trimmedEnd(text, Math.min(least, bound), bound, indent)
}

export function applied(text: string, cuts: readonly Cut[]): string {
  let out = ''
  let at = 0
  for (const { from, to, text: put } of cuts.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    out += text.slice(at, from) + put
    at = to
  }
  return out + text.slice(at)
}
