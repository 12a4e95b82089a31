import { constructFromEvents, dump, EVENT_ID, load, YAMLException } from 'js-yaml'
import type { WorkIndex } from '../model.ts'
import { inOrder } from './cut.ts'
import { applied } from './edit-item.ts'
import { emitList, emitPair } from './emit.ts'
import { lists } from './layout.ts'
import { anchorOf, isAlias, nodesOf } from './nodes.ts'
import { rewritten } from './rewrite.ts'
import type { Row } from './rewrite.ts'
import { says } from './same.ts'

/**
 * A text that says `to`, by the way that leaves most of it alone: list by list, then with its aliases spelt
 * out, then all of it anew. Each is read back before it counts.
 */
export function anew(text: string, to: WorkIndex): string {
  const from = inOrder(text)
  const ways = [
    () => text,
    () => rewritten(text, from, to),
    () => rewritten(speltOut(text), from, to),
    () => emitted(text, to),
  ]
  for (const way of ways) {
    const out = attempt(way)
    if (out !== undefined && says(out, to)) return out
  }
  throw new Error('The plan cannot be written so that it says what it should.')
}

function attempt(way: () => string): string | undefined {
  try {
    return way()
  } catch (error) {
    if (error instanceof YAMLException) return undefined
    throw error
  }
}

/** The text with what each alias stands for in its place, and without anchors. */
function speltOut(text: string): string {
  const { events, after } = nodesOf(text)
  const anchors = events.flatMap((event, node) => {
    const anchor = isAlias(event) ? undefined : anchorOf(event)
    return anchor ? [{ ...anchor, node, name: text.slice(anchor.from, anchor.to) }] : []
  })
  // All that has an anchor as one list, in the order of the text, so that each finds those before it.
  const [document] = events
  if (!document || anchors.length === 0) return text
  const end = { type: EVENT_ID.POP } as (typeof events)[number]
  const list = { ...sequence, start: 0 } as (typeof events)[number]
  const [values] = constructFromEvents(
    [document, list, ...anchors.flatMap(({ node }) => events.slice(node, after(node))), end, end],
    { source: text },
  ) as unknown[][]
  const cuts = anchors.map(({ from, to }) => unmarked(text, from - 1, to))
  for (const [at, event] of events.entries()) {
    if (!isAlias(event)) continue
    const name = text.slice(event.anchorStart, event.anchorEnd)
    const which = anchors.findLastIndex((one) => one.node < at && one.name === name)
    cuts.push({ from: event.anchorStart - 1, to: event.anchorEnd, text: flow(values?.[which]) })
  }
  return applied(text, cuts)
}

const sequence = {
  type: EVENT_ID.SEQUENCE,
  anchorStart: -1,
  anchorEnd: -1,
  tagStart: -1,
  tagEnd: -1,
  style: 1,
}

/** An anchor goes with the blanks after it, or with those before it at the end of a line. */
function unmarked(text: string, start: number, end: number) {
  let [from, to] = [start, end]
  while (text[to] === ' ' || text[to] === '\t') to++
  if (to >= text.length || text[to] === '\n' || text[to] === '\r')
    while (text[from - 1] === ' ') from--
  return { from, to, text: '' }
}

/** On one line, and safe within brackets. */
const flow = (value: unknown): string =>
  dump([value], { lineWidth: -1, noRefs: true, flowLevel: 0 }).trim().slice(1, -1)

/** All of it as a block, with what stands at its top besides the plan, and the comments before it. */
function emitted(text: string, to: WorkIndex): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const [top = ''] = /^(?:[ \t]*(?:#[^\n]*)?\n)*/.exec(text) ?? []
  const known: Row = { ...to }
  const raw = { ...(load(text) as Row | undefined) }
  const keys = new Set([...Object.keys(raw), ...Object.keys(known)])
  const pairs = [...keys].map((key) => {
    const rows = lists.some((list) => list === key) ? (known[key] as readonly Row[]) : []
    if (rows.length > 0) return `${key}:${eol}${emitList(rows, 2, eol)}`
    const value = key in known ? known[key] : raw[key]
    return value === undefined ? '' : emitPair(key, value, 0, eol)
  })
  return top + pairs.join('')
}
