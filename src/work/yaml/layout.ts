import { findAnchor, lineEnd, lineStart, indexNodes, trimmedEnd } from './nodes.ts'
import type { Nodes, Pair } from './nodes.ts'

/** The lines of one item, from its dash on. */
type Span = { readonly start: number; readonly end: number }

export type ListLayout = {
  readonly colon: number
  readonly end: number
  readonly indent: number
  /** Column of the dashes; the default one if there are none. */
  readonly dash: number
  /** In text order; undefined unless each item is a block on its own lines. */
  readonly spans: readonly Span[] | undefined
  readonly isEmpty: boolean
}

export const lists = ['sprints', 'backlog', 'history', 'conflicts'] as const
export type ListName = (typeof lists)[number]

export type Layout = ReturnType<typeof computeLayout>

/** Computes the offsets of the items of a work-index.yaml. */
export function computeLayout(text: string) {
  const nodes = indexNodes(text)
  // In flow style, such as JSON, items have no lines of their own.
  const isBlock = nodes.isMap(nodes.root) && nodes.isBlock(nodes.root)
  const pairs = (isBlock ? nodes.pairs(nodes.root) : undefined) ?? []
  const [top] = pairs
  const start = top && lineStart(text, top.keyStart)
  const listLayouts: Partial<Record<ListName, ListLayout>> = {}
  const words: Record<string, { from: number; to: number }> = {}
  let stories: readonly (ListLayout | undefined)[] = []
  for (const [at, pair] of pairs.entries()) {
    const bound = findBound(text, pairs, at, text.length)
    const name = lists.find((list) => list === pair.key)
    const scalar = nodes.scalar(pair.value)
    if (!name) {
      if (scalar && scalar.valueStart >= 0 && !findAnchor(scalar))
        words[pair.key] = { from: scalar.valueStart, to: scalar.valueEnd }
      continue
    }
    const place = computeListLayout(text, nodes, pair, bound)
    listLayouts[name] = place
    if (name === 'sprints' && place.spans)
      stories = nodes
        .children(pair.value)
        .map((sprint, n) =>
          computeStoriesLayout(text, nodes, sprint, place.spans?.[n]?.end ?? bound),
        )
  }
  return {
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    /** Column of the top-level keys, and start of the first line with one. */
    indent: top && start !== undefined ? top.keyStart - start : 0,
    start,
    /** With anchors, an item can depend on the lines of another. */
    hasAnchors: nodes.events.some(findAnchor),
    isOdd: isOdd(text, nodes),
    lists: listLayouts,
    /** The story list of each sprint in order; undefined for a sprint without the key. */
    stories,
    words,
  }
}

/** Whether the text has an explicit document end, `? key` keys or lone carriage returns. */
const isOdd = (text: string, { events }: Nodes): boolean =>
  events.some((event) => 'explicitEnd' in event && event.explicitEnd) ||
  /^[ \t]*(?:-[ \t]+)*\?(?:\s|$)|\r(?!\n)/m.test(text)

const findBound = (text: string, pairs: readonly Pair[], at: number, end: number) => {
  const next = pairs[at + 1]
  return next ? lineStart(text, next.keyStart) : end
}

function computeStoriesLayout(
  text: string,
  nodes: Nodes,
  sprint: number,
  end: number,
): ListLayout | undefined {
  const pairs = (nodes.isMap(sprint) && nodes.isBlock(sprint) && nodes.pairs(sprint)) || []
  const at = pairs.findIndex(({ key }) => key === 'stories')
  const pair = pairs[at]
  return pair && computeListLayout(text, nodes, pair, findBound(text, pairs, at, end))
}

function computeListLayout(text: string, nodes: Nodes, pair: Pair, bound: number): ListLayout {
  const { value, keyStart, keyEnd } = pair
  const colon = text.indexOf(':', keyEnd) + 1
  const indent = keyStart - lineStart(text, keyStart)
  const last = Math.max(nodes.lastEnd(value), colon)
  const least = text[last - 1] === '\n' ? last : lineEnd(text, last)
  const end = trimmedEnd(text, Math.min(least, bound), bound, indent)
  const items = nodes.isSequence(value) ? nodes.children(value) : []
  const defaults = { colon, end, indent, dash: indent + 2 }
  if (items.length === 0) return { ...defaults, spans: undefined, isEmpty: true }
  const starts = nodes.isBlock(value) ? items.map((item) => findDashLine(text, nodes, item)) : []
  const [first] = starts
  if (first === undefined || starts.includes(undefined))
    return { ...defaults, spans: undefined, isEmpty: false }
  const dash = text.slice(first).search(/[^ ]/)
  const spans = items.map((item, at) => {
    const start = starts[at] ?? 0
    const lastWord = nodes.lastEnd(item)
    const stop = text[lastWord - 1] === '\n' ? lastWord : lineEnd(text, Math.max(lastWord, start))
    const limit = starts[at + 1] ?? bound
    return { start, end: trimmedEnd(text, Math.min(stop, limit), limit, dash) }
  })
  return { ...defaults, end: Math.max(end, spans.at(-1)?.end ?? end), dash, spans, isEmpty: false }
}

/**
 * Returns the start of the line with the dash of a mapping, which can start on a later line;
 * undefined if the dash is missing.
 */
function findDashLine(text: string, nodes: Nodes, item: number): number | undefined {
  const at = nodes.startOf(item)
  if (at < 0 || !nodes.isMap(item)) return undefined
  let start = lineStart(text, at)
  let before = text.slice(start, at)
  // Blank lines and comments can be in between, and an anchor or tag after the dash.
  while (start > 0 && /^[ \t]*(?:#.*)?$/.test(before.trimEnd())) {
    const end = start
    start = lineStart(text, end - 1)
    before = text.slice(start, end)
  }
  return /^ *-(?:[ \t]+[&!]\S*)*[ \t]*(?:[ \t]#.*)?$/.test(before.trimEnd()) ? start : undefined
}
