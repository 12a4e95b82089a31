import { dump, SCALAR_STYLE } from 'js-yaml'
import {
  isBlockScalar,
  isMissing,
  isQuoted,
  lineEnd,
  lineStart,
  indexNodes,
  trimmedEnd,
} from './nodes.ts'
import type { Nodes, Pair } from './nodes.ts'

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// Not trimEnd, which also removes characters that are not spaces in YAML.
const trimNewlines = (text: string) => text.replace(/\n+$/, '')

/** js-yaml recurses over the text and overflows the stack above some length. JSON is valid YAML. */
const isLong = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.length > 500_000
    : typeof value === 'object' && value !== null && Object.values(value).some(isLong)

/**
 * Scalars of a list share one line, objects of a list have one line each, and the rest uses the
 * default.
 */
function getFlowLevel(value: unknown): number {
  if (!Array.isArray(value)) return isPlainObject(value) ? 1 : -1
  return value.every((one) => typeof one !== 'object' || one === null) ? 1 : 2
}

/** Formats `key: value` as lines at this indent; the first line has none. */
export function emitPair(key: string, value: unknown, indent: number, eol: string): string {
  if (isLong(value))
    return `${emitPair(key, null, 0, '').replace(/null$/, '')}${JSON.stringify(value)}${eol}`
  // The trailing blank lines of a block scalar would depend on the next line.
  const isOpen = typeof value === 'string' && /\n\s*\n$|^\s*\n/.test(value)
  const text = dump(
    { [key]: value },
    {
      lineWidth: -1,
      noRefs: true,
      flowLevel: getFlowLevel(value),
      ...(isOpen && { forceQuotes: true, quoteStyle: 'double' as const }),
    },
  )
  const pad = ' '.repeat(indent)
  return trimNewlines(text)
    .split('\n')
    .map((line, at) => (at === 0 || line === '' ? line : pad + line))
    .join(eol)
    .concat(eol)
}

/** Formats a value on one line in its previous quotes; undefined if it needs more lines. */
function emitScalar(value: unknown, quotes?: 'single' | 'double'): string | undefined {
  if (typeof value === 'object' && value !== null) return undefined
  if (Number.isSafeInteger(value)) return String(value)
  if (isLong(value)) return JSON.stringify(value)
  const isQuoted = quotes !== undefined && typeof value === 'string'
  const text = trimNewlines(
    dump(value, {
      lineWidth: -1,
      ...(isQuoted && { forceQuotes: true, quoteStyle: quotes }),
    }),
  )
  return text.includes('\n') ? undefined : text
}

export function emitItem(item: Readonly<Record<string, unknown>>, indent: number, eol: string) {
  const fields = Object.entries(item).filter(([, value]) => value !== undefined)
  if (fields.length === 0) return `${' '.repeat(indent)}- {}${eol}`
  return fields
    .map(([key, value], at) => {
      const isList = Array.isArray(value) && key === 'stories' && value.length > 0
      const lines = isList
        ? `stories:${eol}${emitList(value as Record<string, unknown>[], indent + 4, eol)}`
        : emitPair(key, value, indent + 2, eol)
      return `${' '.repeat(indent)}${at === 0 ? '- ' : '  '}${lines}`
    })
    .join('')
}

export const emitList = (
  items: readonly Readonly<Record<string, unknown>>[],
  indent: number,
  eol: string,
): string => items.map((item) => emitItem(item, indent, eol)).join('')

/** New values of fields; `undefined` removes a field. */
export type Fields = Readonly<Record<string, unknown>>

type Splice = { readonly from: number; readonly to: number; readonly text: string }

/**
 * Changes fields in the text of one item and preserves every other byte: comments, order, quotes
 * and spaces. Returns undefined for unsupported syntax; the item is then rewritten.
 */
export function editItem(text: string, fields: Fields, eol: string): string | undefined {
  let nodes: Nodes
  try {
    nodes = indexNodes(text)
  } catch {
    // For example an alias of an anchor outside the item.
    return undefined
  }
  const [item = -1, ...more] = nodes.isSequence(nodes.root) ? nodes.children(nodes.root) : []
  if (more.length > 0 || !nodes.isMap(item) || !nodes.isBlock(item)) return undefined
  const pairs = nodes.pairs(item)
  const [first] = pairs ?? []
  if (!pairs || !first) return undefined
  const indent = first.keyStart - lineStart(text, first.keyStart)

  const splices: Splice[] = []
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
      splices.push({ from: lineStart(text, pair.keyStart), to: end, text: '' })
      continue
    }
    splices.push(
      replaceScalar(text, nodes, pair, value) ?? {
        from: pair.keyStart,
        to: end,
        text: emitPair(key, value, indent, eol),
      },
    )
  }
  if (added.length > 0) {
    // Insert before the stories of a sprint, which are long, otherwise at the end of the item.
    const stories = pairs.find(({ key }) => key === 'stories')
    const isFirst = stories === first
    const last = pairs.at(-1) ?? first
    const at =
      stories && !isFirst
        ? lineStart(text, stories.keyStart)
        : pairEnd(text, nodes, last, text.length, indent)
    const isOpen = at > 0 && text[at - 1] !== '\n'
    splices.push({ from: at, to: at, text: (isOpen ? eol : '') + added.join('') })
  }
  return applySplices(text, splices)
}

/** Replaces a scalar on its line; the rest of the line stays. */
function replaceScalar(text: string, nodes: Nodes, pair: Pair, value: unknown): Splice | undefined {
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
  // A block scalar can include the newline.
  const minEnd = text[last - 1] === '\n' ? last : lineEnd(text, last)
  return trimmedEnd(text, Math.min(minEnd, bound), bound, indent)
}

export function applySplices(text: string, splices: readonly Splice[]): string {
  let out = ''
  let at = 0
  for (const { from, to, text: put } of splices.toSorted(
    (a, b) => a.from - b.from || a.to - b.to,
  )) {
    out += text.slice(at, from) + put
    at = to
  }
  return out + text.slice(at)
}
