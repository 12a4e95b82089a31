import { isDeepStrictEqual } from 'node:util'
import type { WorkIndex } from '../model.ts'
import { applied, editItem } from './edit-item.ts'
import type { Fields } from './edit-item.ts'
import { emitItem, emitList } from './emit.ts'
import { layoutOf, lists } from './layout.ts'
import type { ListName, ListPlace } from './layout.ts'
import { lineEnd } from './nodes.ts'

export type Row = Readonly<Record<string, unknown>>
export type KeysOf = (rows: readonly Row[]) => string[]

export const idsOf: KeysOf = (rows) => rows.map(({ id }) => String(id))

/** Entries of history have no id: equal ones are told apart by how often they came before. */
export const entryKeys: KeysOf = (rows) => {
  const counts = new Map<string, number>()
  return rows.map((row) => {
    const said = JSON.stringify(row)
    const n = (counts.get(said) ?? 0) + 1
    counts.set(said, n)
    return `${said}#${n}`
  })
}

export function differences(from: Row, to: Row): Fields {
  const fields: Record<string, unknown> = {}
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)]))
    if (!isDeepStrictEqual(from[key], to[key])) fields[key] = to[key]
  return fields
}

/** The text with whole lists written again where they differ; items that stay keep their lines. */
export function rewritten(text: string, from: WorkIndex, to: WorkIndex): string {
  let out = words(text, from, to)
  for (const name of lists) {
    const [had, has] = [from[name] as readonly Row[], to[name] as readonly Row[]]
    if (isDeepStrictEqual(had, has)) continue
    const layout = layoutOf(out)
    const keysOf = name === 'history' ? entryKeys : idsOf
    const place = layout.lists[name]
    if (place) out = withList(out, place, had, has, keysOf, layout.eol)
    else if (has.length > 0) out = appended(out, name, has, layout.eol)
  }
  return out
}

function words(text: string, from: WorkIndex, to: WorkIndex): string {
  const layout = layoutOf(text)
  const cuts = (['version', 'next_story'] as const)
    .filter((word) => from[word] !== to[word] && to[word] !== undefined)
    .map((word) => {
      const known = layout.words[word]
      if (known) return { ...known, text: String(to[word]) }
      const after = layout.words['version']?.to ?? 0
      const at = after > 0 ? lineEnd(text, after) : 0
      return { from: at, to: at, text: `${word}: ${String(to[word])}${layout.eol}` }
    })
  return applied(text, cuts)
}

const appended = (text: string, name: ListName, rows: readonly Row[], eol: string) =>
  `${text}${text === '' || text.endsWith('\n') ? '' : eol}${name}:${eol}${emitList(rows, 2, eol)}`

function withList(
  text: string,
  place: ListPlace,
  had: readonly Row[],
  has: readonly Row[],
  keysOf: KeysOf,
  eol: string,
): string {
  const { colon, end, dash, spans } = place
  const lineStop = lineEnd(text, colon)
  const rest = text.slice(colon, lineStop)
  if (has.length === 0) {
    const comment = /^\s*#.*/.exec(rest)?.[0].trimEnd() ?? ''
    return `${text.slice(0, colon)} []${comment}${eol}${text.slice(end)}`
  }
  if (!spans) {
    const isShort = place.isEmpty && end <= lineStop
    const said = isShort ? rest.replace(/^\s*(?:\[\s*\]|null|~)?/, '').trim() : ''
    const comment = said.startsWith('#') ? ` ${said}` : ''
    return `${text.slice(0, colon)}${comment}${eol}${emitList(has, dash, eol)}${text.slice(end)}`
  }
  const wanted = new Map(keysOf(has).map((key, at) => [key, has[at] ?? {}]))
  const keys = keysOf(had)
  let out = text.slice(0, spans[0]?.start)
  for (const [at, { start, end: stop }] of spans.entries()) {
    if (at > 0) out += text.slice(spans[at - 1]?.end, start)
    const key = keys[at] ?? ''
    const to = wanted.get(key)
    wanted.delete(key)
    if (to) out += itemText(text.slice(start, stop), had[at] ?? {}, to, dash, eol)
  }
  if (wanted.size > 0 && !out.endsWith('\n')) out += eol
  return out + emitList([...wanted.values()], dash, eol) + text.slice(spans.at(-1)?.end)
}

export function itemText(text: string, from: Row, to: Row, dash: number, eol: string): string {
  if (isDeepStrictEqual(from, to)) return text
  const { stories: given, ...own } = from as { stories?: readonly Row[] | null }
  const { stories: asked, ...wanted } = to as { stories?: readonly Row[] | null }
  const [had, has] = [given ?? [], asked ?? []]
  const isLacking = has.length > 0 && !('stories' in from)
  const fields = { ...differences(own, wanted), ...(isLacking && { stories: [] }) }
  const edited = editItem(text, fields, eol)
  if (edited === undefined) return emitItem(to, dash, eol)
  if (isDeepStrictEqual(had, has)) return edited
  // As a file of its own, to find the stories in it.
  const top = `sprints:${eol}`
  const layout = layoutOf(top + edited)
  const [place] = layout.stories
  if (!place) return emitItem(to, dash, eol)
  return withList(top + edited, place, had, has, idsOf, eol).slice(top.length)
}
