import type { Sprint, Story, WorkIndex } from '../model.ts'
import { computeLayout } from './layout.ts'
import type { ListName, ListLayout } from './layout.ts'
import { lineStart } from './nodes.ts'
import { parseIndex } from './read.ts'
import type { Row } from './rewrite.ts'

/** A segment of the text: the lines of an item, or the text between items. */
export type TextSlice = { text: string; isGone?: true }
type SlicedRow = { value: Row; readonly slice: TextSlice }

export type ListSlice = {
  readonly rows: SlicedRow[]
  readonly dash: number
  readonly isNewestFirst: boolean
}

/** A sprint's own lines, before and after its stories. */
export type SprintSlice = {
  readonly head: TextSlice
  readonly tail: TextSlice
  value: Row
  /** Undefined if the stories are not on their own lines; `uncut` is then their count. */
  readonly stories: ListSlice | undefined
  readonly unslicedCount: number
}

type Section = { readonly first: TextSlice; readonly last: TextSlice }

export type SlicedText = {
  readonly eol: string
  readonly hasAnchors: boolean
  readonly hasUnusualSyntax: boolean
  slices: TextSlice[]
  readonly lists: Partial<Record<ListName, ListSlice>>
  sprints: SprintSlice[]
  dash: number
  readonly sections: Partial<Record<ListName, Section>>
  readonly scalars: Partial<Record<ScalarKey, TextSlice>>
}

/** Top-level scalars that cowork changes. */
export const scalarKeys = ['version', 'next_story'] as const
type ScalarKey = (typeof scalarKeys)[number]

/** Slices a text at the boundaries of its items; `values` are in text order. */
export function sliceText(source: string, values: WorkIndex): SlicedText {
  const layout = computeLayout(source)
  const slices: TextSlice[] = []
  const sliced: SlicedText = {
    eol: layout.eol,
    hasAnchors: layout.hasAnchors,
    hasUnusualSyntax: layout.isOdd,
    slices,
    lists: {},
    sprints: [],
    dash: layout.lists.sprints?.dash ?? 2,
    sections: {},
    scalars: {},
  }
  let at = 0
  const slice = (end: number): TextSlice => {
    const one = { text: source.slice(at, end) }
    slices.push(one)
    at = end
    return one
  }

  const sliceList = (place: ListLayout, rows: readonly Row[]): ListSlice => ({
    dash: place.dash,
    isNewestFirst: isNewestFirst(rows),
    rows: (place.spans ?? []).map((span, n) => {
      slice(span.start)
      return { value: rows[n] ?? {}, slice: slice(span.end) }
    }),
  })

  function sprints({ spans = [] }: ListLayout): void {
    for (const [n, span] of spans.entries()) {
      const { stories: given, ...value } = values.sprints[n] ?? ({} as Sprint)
      const list = layout.stories[n]
      slice(span.start)
      const isCut = list?.spans !== undefined
      const head = slice(isCut ? (list.spans[0]?.start ?? span.end) : span.end)
      const stories = isCut ? sliceList(list, (given ?? []) as Story[]) : undefined
      if (isCut) slice(list.end)
      const unslicedCount = isCut || !Array.isArray(given) ? 0 : given.length
      sliced.sprints.push({ head, tail: slice(span.end), value, stories, unslicedCount })
    }
  }

  function list(name: ListName, place: ListLayout): void {
    const start = lineStart(source, place.colon)
    const isOwn = place.indent === 0 && start >= at
    if (isOwn) slice(start)
    const first = slices.length
    if (place.spans && name === 'sprints') sprints(place)
    else if (place.spans && name !== 'sprints') sliced.lists[name] = sliceList(place, values[name])
    if (!isOwn || place.end < at) return
    const last = slice(place.end)
    sliced.sections[name] = { first: slices[first] ?? last, last }
  }

  const parts: { readonly at: number; readonly cut: () => void }[] = []
  for (const [name, place] of Object.entries(layout.lists))
    parts.push({ at: place.colon, cut: () => list(name as ListName, place) })
  for (const word of scalarKeys) {
    const place = layout.words[word]
    if (place)
      parts.push({
        at: place.from,
        cut() {
          slice(place.from)
          sliced.scalars[word] = slice(place.to)
        },
      })
  }
  for (const part of parts.toSorted((a, b) => a.at - b.at)) part.cut()
  slice(source.length)
  return sliced
}

function isNewestFirst(rows: readonly Row[]): boolean {
  const [first, last] = [rows[0]?.['date'], rows.at(-1)?.['date']]
  return typeof first === 'string' && typeof last === 'string' && first > last
}

export const joinSlices = (slices: readonly TextSlice[]): string =>
  slices.map(({ text }) => text).join('')

/**
 * Parses a segment; undefined if it is not valid alone, for example because of an alias of an
 * outside anchor.
 */
export function parseValues(text: string): WorkIndex | undefined {
  const read = parseIndex(text)
  return read.ok ? read.index : undefined
}

/** Parses generated YAML. */
export function parseOrThrow(text: string): WorkIndex {
  const read = parseIndex(text)
  if (!read.ok) throw new Error(`generated YAML is invalid: ${JSON.stringify(read.problems)}`)
  return read.index
}
