import type { Sprint, Story, WorkIndex } from '../model.ts'
import { computeLayout } from './layout.ts'
import type { ListName, ListLayout } from './layout.ts'
import { lineStart } from './nodes.ts'
import { parseIndex } from './read.ts'
import type { Row } from './rewrite.ts'

/** A segment of the text: the lines of an item, or the text between items. */
export type TextSlice = { text: string; isGone?: true }
type Placed = { value: Row; readonly piece: TextSlice }

export type ListSlice = {
  readonly rows: Placed[]
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
  readonly uncut: number
}

type Section = { readonly first: TextSlice; readonly last: TextSlice }

export type SlicedText = {
  readonly eol: string
  readonly hasAnchors: boolean
  readonly isOdd: boolean
  pieces: TextSlice[]
  readonly columns: Partial<Record<ListName, ListSlice>>
  heads: SprintSlice[]
  dash: number
  readonly sections: Partial<Record<ListName, Section>>
  readonly words: Partial<Record<Word, TextSlice>>
}

/** Top-level scalars that cowork changes. */
export const scalarKeys = ['version', 'next_story'] as const
type Word = (typeof scalarKeys)[number]

/** Slices a text at the boundaries of its items; `values` are in text order. */
export function sliceText(source: string, values: WorkIndex): SlicedText {
  const layout = computeLayout(source)
  const pieces: TextSlice[] = []
  const cut: SlicedText = {
    eol: layout.eol,
    hasAnchors: layout.hasAnchors,
    isOdd: layout.isOdd,
    pieces,
    columns: {},
    heads: [],
    dash: layout.lists.sprints?.dash ?? 2,
    sections: {},
    words: {},
  }
  let at = 0
  const piece = (end: number): TextSlice => {
    const one = { text: source.slice(at, end) }
    pieces.push(one)
    at = end
    return one
  }

  const column = (place: ListLayout, rows: readonly Row[]): ListSlice => ({
    dash: place.dash,
    isNewestFirst: isNewestFirst(rows),
    rows: (place.spans ?? []).map((span, n) => {
      piece(span.start)
      return { value: rows[n] ?? {}, piece: piece(span.end) }
    }),
  })

  function sprints({ spans = [] }: ListLayout): void {
    for (const [n, span] of spans.entries()) {
      const { stories: given, ...value } = values.sprints[n] ?? ({} as Sprint)
      const list = layout.stories[n]
      piece(span.start)
      const isCut = list?.spans !== undefined
      const head = piece(isCut ? (list.spans[0]?.start ?? span.end) : span.end)
      const stories = isCut ? column(list, (given ?? []) as Story[]) : undefined
      if (isCut) piece(list.end)
      const uncut = isCut || !Array.isArray(given) ? 0 : given.length
      cut.heads.push({ head, tail: piece(span.end), value, stories, uncut })
    }
  }

  function list(name: ListName, place: ListLayout): void {
    const start = lineStart(source, place.colon)
    const isOwn = place.indent === 0 && start >= at
    if (isOwn) piece(start)
    const first = pieces.length
    if (place.spans && name === 'sprints') sprints(place)
    else if (place.spans && name !== 'sprints') cut.columns[name] = column(place, values[name])
    if (!isOwn || place.end < at) return
    const last = piece(place.end)
    cut.sections[name] = { first: pieces[first] ?? last, last }
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
          piece(place.from)
          cut.words[word] = piece(place.to)
        },
      })
  }
  for (const part of parts.toSorted((a, b) => a.at - b.at)) part.cut()
  piece(source.length)
  return cut
}

function isNewestFirst(rows: readonly Row[]): boolean {
  const [first, last] = [rows[0]?.['date'], rows.at(-1)?.['date']]
  return typeof first === 'string' && typeof last === 'string' && first > last
}

export const joinSlices = (pieces: readonly TextSlice[]): string =>
  pieces.map(({ text }) => text).join('')

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
