import { isDeepStrictEqual } from 'node:util'
import { constructFromEvents, dump, EVENT_ID, load, YAMLException } from 'js-yaml'
import type { WorkIndex } from '../model.ts'
import { applySplices, editItem, emitItem, emitList, emitPair } from './emit.ts'
import type { Fields } from './emit.ts'
import { computeLayout, lists } from './layout.ts'
import type { Layout, ListName, ListLayout } from './layout.ts'
import { findAnchor, isAlias, lineEnd, indexNodes } from './nodes.ts'
import { textMatches, itemTextMatches } from './read.ts'
import { parseOrThrow } from './slice-text.ts'

export type Row = Readonly<Record<string, unknown>>
export type ToKeys = (rows: readonly Row[]) => string[]

export const idKeys: ToKeys = (rows) => rows.map(({ id }) => String(id))

/** History entries have no id, so equal entries are numbered. */
export const entryKeys: ToKeys = (rows) => {
  const counts = new Map<string, number>()
  return rows.map((row) => {
    const serialized = JSON.stringify(row)
    const n = (counts.get(serialized) ?? 0) + 1
    counts.set(serialized, n)
    return `${serialized}#${n}`
  })
}

export function diffFields(from: Row, to: Row): Fields {
  const fields: Record<string, unknown> = {}
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)]))
    if (!isDeepStrictEqual(from[key], to[key])) fields[key] = to[key]
  return fields
}

/** Rewrites the lists that differ; unchanged items keep their lines. */
export function rewriteLists(text: string, from: WorkIndex, to: WorkIndex): string {
  let out = rewriteScalars(text, from, to)
  for (const name of lists) {
    const [oldRows, newRows] = [from[name] as readonly Row[], to[name] as readonly Row[]]
    if (isDeepStrictEqual(oldRows, newRows)) continue
    const layout = computeLayout(out)
    const keysOf = name === 'history' ? entryKeys : idKeys
    const place = layout.lists[name]
    if (place) out = rewriteList(out, place, oldRows, newRows, keysOf, layout.eol)
    else if (newRows.length > 0) out = appendList(out, name, newRows, layout)
  }
  return out
}

function rewriteScalars(text: string, from: WorkIndex, to: WorkIndex): string {
  const layout = computeLayout(text)
  const cuts = (['version', 'next_story'] as const)
    .filter((word) => from[word] !== to[word] && to[word] !== undefined)
    .map((word) => {
      const known = layout.words[word]
      if (known) return { ...known, text: String(to[word]) }
      const after = layout.words['version']?.to
      const at = after === undefined ? (layout.start ?? text.length) : lineEnd(text, after)
      const isOpen = at > 0 && text[at - 1] !== '\n'
      const line = `${' '.repeat(layout.indent)}${word}: ${String(to[word])}${layout.eol}`
      return { from: at, to: at, text: (isOpen ? layout.eol : '') + line }
    })
  return applySplices(text, cuts)
}

function appendList(text: string, name: ListName, rows: readonly Row[], { eol, indent }: Layout) {
  const isOpen = text !== '' && !text.endsWith('\n')
  const key = `${' '.repeat(indent)}${name}:${eol}`
  return text + (isOpen ? eol : '') + key + emitList(rows, indent + 2, eol)
}

function rewriteList(
  text: string,
  place: ListLayout,
  oldRows: readonly Row[],
  newRows: readonly Row[],
  keysOf: ToKeys,
  eol: string,
): string {
  const { colon, end, dash, spans } = place
  const lineStop = lineEnd(text, colon)
  const firstLine = text.slice(colon, lineStop)
  if (newRows.length === 0) {
    const comment = /^\s*#.*/.exec(firstLine)?.[0].trimEnd() ?? ''
    // Comments between and after items are kept.
    const left = (spans ?? []).map(({ start }, at) =>
      text.slice(at === 0 ? lineStop : spans?.[at - 1]?.end, start),
    )
    const rest = text.slice(spans?.at(-1)?.end ?? end)
    return `${text.slice(0, colon)} []${comment}${eol}${left.join('')}${rest}`
  }
  if (!spans) {
    const isShort = place.isEmpty && end <= lineStop
    const more = isShort ? firstLine.replace(/^\s*(?:\[\s*\]|null|~)?/, '').trim() : ''
    const comment = more.startsWith('#') ? ` ${more}` : ''
    return `${text.slice(0, colon)}${comment}${eol}${emitList(newRows, dash, eol)}${text.slice(end)}`
  }
  const wanted = new Map(keysOf(newRows).map((key, at) => [key, newRows[at] ?? {}]))
  const keys = keysOf(oldRows)
  let out = text.slice(0, spans[0]?.start)
  for (const [at, { start, end: stop }] of spans.entries()) {
    if (at > 0) out += text.slice(spans[at - 1]?.end, start)
    const key = keys[at] ?? ''
    const to = wanted.get(key)
    wanted.delete(key)
    if (to) out += emitChangedItem(text.slice(start, stop), oldRows[at] ?? {}, to, dash, eol)
  }
  if (wanted.size > 0 && !out.endsWith('\n')) out += eol
  return out + emitList([...wanted.values()], dash, eol) + text.slice(spans.at(-1)?.end)
}

/** Returns the lines of a changed item: edited in place if possible, otherwise rewritten. */
export function emitChangedItem(
  text: string,
  from: Row,
  to: Row,
  dash: number,
  eol: string,
): string {
  if (isDeepStrictEqual(from, to)) return text
  const edited = editInPlace(text, from, to, eol)
  return edited !== undefined && itemTextMatches(edited, to) ? edited : emitNewItem(to, dash, eol)
}

/** Returns the lines of a new item, validated by parsing them. */
export function emitNewItem(item: Row, dash: number, eol: string): string {
  const lines = emitItem(item, dash, eol)
  if (itemTextMatches(lines, item)) return lines
  const { id = 'an entry' } = item as { readonly id?: string }
  throw new Error(`Cannot write ${id} as valid YAML.`)
}

function editInPlace(text: string, from: Row, to: Row, eol: string): string | undefined {
  const { stories: oldStories, ...own } = from as { stories?: readonly Row[] | null }
  const { stories: newStories, ...wanted } = to as { stories?: readonly Row[] | null }
  const [oldRows, newRows] = [oldStories ?? [], newStories ?? []]
  const isLacking = newRows.length > 0 && !('stories' in from)
  const fields = { ...diffFields(own, wanted), ...(isLacking && { stories: [] }) }
  const edited = editItem(text, fields, eol)
  if (edited === undefined || isDeepStrictEqual(oldRows, newRows)) return edited
  // Parsed as a separate file to find its stories.
  const top = `sprints:${eol}`
  const layout = computeLayout(top + edited)
  const [place] = layout.stories
  return place && rewriteList(top + edited, place, oldRows, newRows, idKeys, eol).slice(top.length)
}

/**
 * Returns a text with the content `to`, with as few changes as possible: list by list, then with
 * aliases expanded, then fully rewritten. Each result is validated by parsing it.
 */
export function rewriteDocument(text: string, to: WorkIndex): string {
  const from = parseOrThrow(text)
  const attempts = [
    () => text,
    () => rewriteLists(text, from, to),
    () => rewriteLists(expandAliases(text), from, to),
    () => emitDocument(text, to),
  ]
  for (const way of attempts) {
    const out = attempt(way)
    if (out !== undefined && textMatches(out, to)) return out
  }
  throw new Error('Cannot write the work index without changing its meaning.')
}

function attempt(way: () => string): string | undefined {
  try {
    return way()
  } catch (error) {
    if (error instanceof YAMLException) return undefined
    throw error
  }
}

/** Replaces aliases with their values and removes anchors. */
function expandAliases(text: string): string {
  const { events, after } = indexNodes(text)
  const anchors = events.flatMap((event, node) => {
    const anchor = isAlias(event) ? undefined : findAnchor(event)
    return anchor ? [{ ...anchor, node, name: text.slice(anchor.from, anchor.to) }] : []
  })
  // All anchored nodes as one list in text order, so that each resolves the earlier ones.
  const [document] = events
  if (!document || anchors.length === 0) return text
  const end = { type: EVENT_ID.POP } as (typeof events)[number]
  const list = { ...sequence, start: 0 } as (typeof events)[number]
  const [values] = constructFromEvents(
    [document, list, ...anchors.flatMap(({ node }) => events.slice(node, after(node))), end, end],
    { source: text },
  ) as unknown[][]
  const cuts = anchors.map(({ from, to }) => removeAnchor(text, from - 1, to))
  for (const [at, event] of events.entries()) {
    if (!isAlias(event)) continue
    const name = text.slice(event.anchorStart, event.anchorEnd)
    const which = anchors.findLastIndex((one) => one.node < at && one.name === name)
    cuts.push({
      from: event.anchorStart - 1,
      to: event.anchorEnd,
      text: formatFlow(values?.[which]),
    })
  }
  return applySplices(text, cuts)
}

const sequence = {
  type: EVENT_ID.SEQUENCE,
  anchorStart: -1,
  anchorEnd: -1,
  tagStart: -1,
  tagEnd: -1,
  style: 1,
}

/** Removes an anchor with the spaces after it, or before it at the end of a line. */
function removeAnchor(text: string, start: number, end: number) {
  let [from, to] = [start, end]
  while (text[to] === ' ' || text[to] === '\t') to++
  if (to >= text.length || text[to] === '\n' || text[to] === '\r')
    while (text[from - 1] === ' ') from--
  return { from, to, text: '' }
}

/** Formats a value on one line in flow style. */
const formatFlow = (value: unknown): string =>
  dump([value], { lineWidth: -1, noRefs: true, flowLevel: 0 }).trim().slice(1, -1)

/**
 * Rewrites the full text as a block mapping, with other top-level keys and the leading comments.
 */
function emitDocument(text: string, to: WorkIndex): string {
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
