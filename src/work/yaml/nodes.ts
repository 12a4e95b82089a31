import { EVENT_ID, SCALAR_STYLE, COLLECTION_STYLE, getScalarValue, parseEvents } from 'js-yaml'

type Event = ReturnType<typeof parseEvents>[number]
type Scalar = Extract<Event, { type: typeof EVENT_ID.SCALAR }>

/**
 * Offsets of nodes in a YAML text, from parser events: exact, without building values. A node is
 * the index of its event.
 */
export type Nodes = ReturnType<typeof indexNodes>

export type Pair = {
  readonly key: string
  readonly keyStart: number
  readonly keyEnd: number
  readonly value: number
}

export function indexNodes(text: string) {
  const events = parseEvents(text, {})
  const root = events[0]?.type === EVENT_ID.DOCUMENT && events[1]?.type !== EVENT_ID.POP ? 1 : -1

  /** Returns the node after this one and its descendants. */
  function after(node: number): number {
    let depth = 0
    for (let at = node; ; at++) {
      const type = events[at]?.type
      if (type === EVENT_ID.SEQUENCE || type === EVENT_ID.MAPPING) depth++
      else if (type === EVENT_ID.POP) depth--
      if (depth <= 0) return at + 1
    }
  }

  const isMap = (node: number) => events[node]?.type === EVENT_ID.MAPPING
  const isSequence = (node: number) => events[node]?.type === EVENT_ID.SEQUENCE
  const isBlock = (node: number) => {
    const event = events[node]
    return !!event && 'style' in event && event.style === COLLECTION_STYLE.BLOCK
  }

  function children(node: number): number[] {
    const found: number[] = []
    let at = node + 1
    while (at < events.length && events[at]?.type !== EVENT_ID.POP) {
      found.push(at)
      at = after(at)
    }
    return found
  }

  /** Returns the pairs of a mapping; undefined if a key is not a plain scalar. */
  function pairs(node: number): Pair[] | undefined {
    const found: Pair[] = []
    const all = children(node)
    for (let at = 0; at + 1 < all.length; at += 2) {
      const event = events[all[at] ?? -1]
      if (event?.type !== EVENT_ID.SCALAR || event.valueStart < 0) return undefined
      const quote = isQuoted(event) ? 1 : 0
      found.push({
        key: getScalarValue(text, event),
        keyStart: event.valueStart - quote,
        keyEnd: event.valueEnd + quote,
        value: all[at + 1] ?? -1,
      })
    }
    return found
  }

  const scalar = (node: number): Scalar | undefined => {
    const event = events[node]
    return event?.type === EVENT_ID.SCALAR ? event : undefined
  }

  /** Returns the end of the last scalar in the node; closing brackets can follow. */
  function lastEnd(node: number): number {
    let end = -1
    const stop = after(node)
    for (let at = node; at < stop; at++) {
      const event = events[at]
      if (event?.type === EVENT_ID.SCALAR && event.valueEnd > end)
        end = event.valueEnd + (isQuoted(event) ? 1 : 0)
      else if (event?.type === EVENT_ID.ALIAS) end = Math.max(end, event.anchorEnd)
    }
    return end
  }

  const startOf = (node: number): number => {
    const event = events[node]
    if (event?.type === EVENT_ID.SCALAR) return event.valueStart
    return event && 'start' in event ? event.start : -1
  }

  return {
    events,
    root,
    after,
    isMap,
    isSequence,
    isBlock,
    children,
    pairs,
    scalar,
    lastEnd,
    startOf,
  }
}

export const isAlias = (event: Event): event is Extract<Event, { type: typeof EVENT_ID.ALIAS }> =>
  event.type === EVENT_ID.ALIAS

export const findAnchor = (
  event: Event,
): { readonly from: number; readonly to: number } | undefined =>
  'anchorStart' in event && event.anchorStart >= 0
    ? { from: event.anchorStart, to: event.anchorEnd }
    : undefined

export const isQuoted = ({ style }: Scalar): boolean =>
  style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED

export const isBlockScalar = ({ style }: Scalar): boolean =>
  style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK

/** Whether the value is omitted, as in `notes:`. */
export const isMissing = ({ valueStart }: Scalar): boolean => valueStart < 0

export const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1

/** Returns the offset after the newline of the line. */
export function lineEnd(text: string, at: number): number {
  const found = text.indexOf('\n', at)
  return found === -1 ? text.length : found + 1
}

/**
 * Returns the end of a node that ends at most at `bound`. Trailing blank lines and comments belong
 * to the next node, unless a comment is indented deeper than `indent`. The end is never before
 * `least`.
 */
export function trimmedEnd(text: string, least: number, bound: number, indent: number): number {
  let end = bound
  while (end > least) {
    const start = lineStart(text, end - 1)
    const line = text.slice(start, end)
    const words = line.replace(/^[ \t\r\n]+/, '')
    const isComment = words.startsWith('#') && line.length - words.length <= indent
    if (start < least || (words !== '' && !isComment)) break
    end = start
  }
  return end
}
