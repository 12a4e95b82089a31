import type { Sprint, Story, WorkIndex } from '../model.ts'
import { layoutOf } from './layout.ts'
import type { ListName, ListPlace } from './layout.ts'
import { lineStart } from './nodes.ts'
import { readIndex } from './read.ts'
import type { Row } from './rewrite.ts'

/** A part of the text: an item's lines, or what stands between items. */
export type Piece = { text: string; isGone?: true }
type Placed = { value: Row; readonly piece: Piece }

export type Column = {
  readonly rows: Placed[]
  readonly dash: number
  readonly isNewestFirst: boolean
}

/** A sprint's own lines, before and after its stories. */
export type Head = {
  readonly head: Piece
  readonly tail: Piece
  value: Row
  /** Nothing where they do not stand on lines of their own; `uncut` says how many there are then. */
  readonly stories: Column | undefined
  readonly uncut: number
}

type Section = { readonly first: Piece; readonly last: Piece }

export type Cut = {
  readonly eol: string
  readonly hasAnchors: boolean
  readonly isOdd: boolean
  pieces: Piece[]
  readonly columns: Partial<Record<ListName, Column>>
  heads: Head[]
  dash: number
  readonly sections: Partial<Record<ListName, Section>>
  readonly words: Partial<Record<Word, Piece>>
}

/** What stands at the top besides the lists, and changes. */
export const words = ['version', 'next_story'] as const
type Word = (typeof words)[number]

/** Cuts a text where its items begin and end; `values` are in the order in which they stand in it. */
export function cutText(source: string, values: WorkIndex): Cut {
  const layout = layoutOf(source)
  const pieces: Piece[] = []
  const cut: Cut = {
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
  const piece = (end: number): Piece => {
    const one = { text: source.slice(at, end) }
    pieces.push(one)
    at = end
    return one
  }

  const column = (place: ListPlace, rows: readonly Row[]): Column => ({
    dash: place.dash,
    isNewestFirst: isNewestFirst(rows),
    rows: (place.spans ?? []).map((span, n) => {
      piece(span.start)
      return { value: rows[n] ?? {}, piece: piece(span.end) }
    }),
  })

  function sprints({ spans = [] }: ListPlace): void {
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

  function list(name: ListName, place: ListPlace): void {
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
  for (const word of words) {
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

export const textOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join('')

/** Nothing where the text means nothing by itself, such as one with an alias of something elsewhere. */
export function valuesOf(text: string): WorkIndex | undefined {
  const read = readIndex(text)
  return read.ok ? read.index : undefined
}

/** What a text says that must say something. */
export function inOrder(text: string): WorkIndex {
  const read = readIndex(text)
  if (!read.ok) throw new Error(`what was written cannot be read: ${JSON.stringify(read.problems)}`)
  return read.index
}
