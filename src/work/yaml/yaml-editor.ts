import { isDeepStrictEqual } from 'node:util'
import type { WorkIndex } from '../model.ts'
import {
  rewriteDocument,
  diffFields,
  entryKeys,
  idKeys,
  emitChangedItem,
  emitNewItem,
  rewriteLists,
} from './rewrite.ts'
import type { ToKeys, Row } from './rewrite.ts'
import { sliceText, parseOrThrow, joinSlices, parseValues, scalarKeys } from './slice-text.ts'
import type { ListSlice, SprintSlice, TextSlice } from './slice-text.ts'
import { editItem } from './emit.ts'
import { lists } from './layout.ts'
import type { ListName } from './layout.ts'
import { isEqualIndex, textMatches, itemTextMatches } from './read.ts'

type WholeSprint = WorkIndex['sprints'][number]

/** Yield after comparing this many items; rewriting one takes ten times as long. */
const atOnce = 200
/** Maximum number of removed slices before the list is compacted. */
const mostGone = 1000
const partLength = 50_000

/**
 * An editor of a work-index.yaml that preserves every byte outside the changed items (W4). The text
 * is sliced once at the boundaries of its items, so that the cost of a change does not depend on
 * the file length.
 */
export type YamlEditor = ReturnType<typeof createYamlEditor>

export function createYamlEditor(given: string, parsed: WorkIndex) {
  const mark = given.startsWith('\ufeff') ? '\ufeff' : ''
  const end = endOf(given)
  let cut = sliceText(given.slice(mark.length, given.length - end.length), parsed)
  let index = parsed
  let joined: string | undefined
  let gone = 0
  let effort = 0
  /** Whether lines with anchors or aliases were changed. */
  let isShared = false

  function compact(): readonly TextSlice[] {
    if (gone > mostGone) {
      cut.pieces = cut.pieces.filter(({ isGone }) => !isGone)
      gone = 0
    }
    return cut.pieces
  }

  const text = () => (joined ??= joinSlices(compact()))

  function touch(lines: string): void {
    isShared ||= cut.hasAnchors && /[&*]/.test(lines)
  }

  function drop(piece: TextSlice): void {
    touch(piece.text)
    piece.text = ''
    piece.isGone = true
    gone++
  }

  /** Yields when enough work was done. */
  function* pause(more: number): Generator<void, void> {
    effort += more
    if (effort < atOnce) return
    effort = 0
    yield
  }

  /** Applies the target to a list. Returns false if the section must be rewritten. */
  function* settle(
    list: ListSlice,
    target: readonly Row[],
    keysOf: ToKeys,
  ): Generator<void, boolean> {
    const { rows, dash } = list
    if (rows.length === target.length && rows.every(({ value }, at) => value === target[at]))
      return true
    const keys = keysOf(rows.map(({ value }) => value))
    const wanted = new Map(keysOf(target).map((key, at) => [key, target[at] ?? {}]))
    const kept = rows.filter((_, at) => wanted.has(keys[at] ?? ''))
    if (kept.length === 0) return target.length === 0 && rows.length === 0
    for (const [at, row] of rows.entries()) {
      const key = keys[at] ?? ''
      const to = wanted.get(key)
      if (!to) {
        drop(row.piece)
        continue
      }
      wanted.delete(key)
      if (to === row.value) continue
      const isEqual = isDeepStrictEqual(to, row.value)
      if (!isEqual) {
        touch(row.piece.text)
        row.piece.text = emitChangedItem(row.piece.text, row.value, to, dash, cut.eol)
      }
      row.value = to
      yield* pause(isEqual ? 1 : 10)
    }
    rows.splice(0, rows.length, ...kept)
    if (wanted.size > 0) yield* insert(list, [...wanted.values()])
    return true
  }

  function* insert(list: ListSlice, values: readonly Row[]): Generator<void, void> {
    const { rows, dash, isNewestFirst } = list
    const { pieces, eol } = cut
    const added: ListSlice['rows'] = []
    for (const value of isNewestFirst ? values.toReversed() : values) {
      added.push({ value, piece: { text: emitNewItem(value, dash, eol) } })
      yield* pause(10)
    }
    const neighbour = (isNewestFirst ? rows[0] : rows.at(-1))?.piece
    const at = neighbour ? pieces.indexOf(neighbour) : -1
    if (!isNewestFirst && neighbour && !neighbour.text.endsWith('\n')) neighbour.text += eol
    pieces.splice(isNewestFirst ? at : at + 1, 0, ...added.map(({ piece }) => piece))
    rows.splice(isNewestFirst ? 0 : rows.length, 0, ...added)
  }

  function* settleSprint(own: SprintSlice, target: WholeSprint): Generator<void, boolean> {
    const { stories, ...value } = target
    if (!isDeepStrictEqual(value, own.value)) {
      touch(own.head.text + own.tail.text)
      const fields = diffFields(own.value, value)
      const edited = editItem(own.head.text + own.tail.text, fields, cut.eol)
      // If the tail has lines of its own, the edited text cannot be split again.
      if (edited === undefined || own.tail.text !== '' || !itemTextMatches(edited, value))
        return false
      own.head.text = edited
      own.value = value
    }
    if (!own.stories) return own.uncut === 0 && (stories ?? []).length === 0
    return yield* settle(own.stories, stories ?? [], idKeys)
  }

  /** Applies the target to the sprints, one by one. */
  function* settleSprints(target: WorkIndex['sprints']): Generator<void, boolean> {
    const { heads } = cut
    if (heads.length === 0) return target.length === 0 && index.sprints.length === 0
    const wanted = new Map(target.map((sprint) => [sprint.id, sprint]))
    if (!heads.some(({ value }) => wanted.has(idOf(value)))) return false
    for (const own of heads.slice()) {
      const id = idOf(own.value)
      const to = wanted.get(id)
      wanted.delete(id)
      if (!to) removeSprint(own)
      else if (!(yield* settleSprint(own, to)) && !rewriteSprint(own, to)) return false
    }
    for (const sprint of wanted.values()) if (!addSprint(sprint)) return false
    return true
  }

  function rewriteSprint(own: SprintSlice, to: WholeSprint): boolean {
    const { pieces, eol, dash } = cut
    const [from, last] = [pieces.indexOf(own.head), pieces.indexOf(own.tail)]
    const before = joinSlices(pieces.slice(from, last + 1))
    touch(before)
    const was = parseValues(`sprints:${eol}${before}`)?.sprints[0]
    return was !== undefined && putSprint(own, to, emitChangedItem(before, was, to, dash, eol))
  }

  function addSprint(sprint: WholeSprint): boolean {
    const last = cut.heads.at(-1)
    if (!last) return false
    const { pieces, eol, dash } = cut
    const before = pieces.slice(0, pieces.indexOf(last.tail) + 1).findLast((one) => one.text !== '')
    const isOpen = before !== undefined && !before.text.endsWith('\n')
    const [head, tail] = [{ text: '' }, { text: '' }]
    const empty: SprintSlice = { head, tail, value: {}, stories: undefined, uncut: 0 }
    pieces.splice(pieces.indexOf(last.tail) + 1, 0, head, tail)
    cut.heads.push(empty)
    if (isOpen) before.text += eol
    return putSprint(empty, sprint, emitNewItem(sprint, dash, eol))
  }

  function removeSprint(own: SprintSlice): void {
    const { pieces, heads } = cut
    const from = pieces.indexOf(own.head)
    touch(joinSlices(pieces.splice(from, pieces.indexOf(own.tail) - from + 1)))
    heads.splice(heads.indexOf(own), 1)
  }

  /** Replaces the lines of a sprint and slices the new ones. */
  function putSprint(own: SprintSlice, to: WholeSprint, lines: string): boolean {
    const { pieces, heads, eol } = cut
    const from = pieces.indexOf(own.head)
    const count = pieces.indexOf(own.tail) - from + 1
    const top = `sprints:${eol}`
    const values = parseValues(top + lines)
    const part = values && sliceText(top + lines, values)
    const [one, ...more] = part?.heads ?? []
    const start = part?.pieces.findIndex(({ text: said }) => said === top) ?? -1
    if (!part || !one || more.length > 0 || start === -1) return false
    if (!isEqualIndex(values, { ...values, sprints: [to] })) return false
    pieces.splice(from, count, ...part.pieces.slice(start + 1))
    heads[heads.indexOf(own)] = one
    return true
  }

  /** Rewrites the section of a list that becomes empty or gets its first item. */
  function rewriteSection(name: ListName, rows: readonly Row[]): boolean {
    const { pieces } = cut
    const section = cut.sections[name]
    if (!section) return false
    const [from, last] = [pieces.indexOf(section.first), pieces.indexOf(section.last)]
    const before = joinSlices(pieces.slice(from, last + 1))
    touch(before)
    const was = parseValues(before)
    if (!was) return false
    const wanted = { ...was, [name]: rows }
    const after = rewriteLists(before, was, wanted)
    const values = parseValues(after)
    if (!values || !isEqualIndex(values, wanted)) return false
    const part = sliceText(after, values)
    pieces.splice(from, last - from + 1, ...part.pieces)
    if (name === 'sprints') cut.heads = part.heads
    cut.dash = name === 'sprints' ? part.dash : cut.dash
    replace(cut.columns, name, part.columns[name])
    replace(cut.sections, name, part.sections[name])
    return true
  }

  function* settleList(name: ListName, target: WorkIndex): Generator<void, boolean> {
    const rows = target[name] as readonly Row[]
    const list = cut.columns[name]
    const isSettled =
      name === 'sprints'
        ? yield* settleSprints(target.sprints)
        : list
          ? yield* settle(list, rows, name === 'history' ? entryKeys : idKeys)
          : rows.length === 0 && index[name].length === 0
    return isSettled || rewriteSection(name, rows)
  }

  function settleWords(target: WorkIndex): boolean {
    return scalarKeys.every((word) => {
      const [piece, to] = [cut.words[word], target[word]]
      if (to === undefined || to === index[word]) return true
      if (piece) piece.text = String(to)
      return piece !== undefined
    })
  }

  /**
   * Changes the text to `target`. Existing items keep their order, new ones come last. The
   * generator yields regularly; the text is valid only after it completes.
   */
  function* steps(target: WorkIndex): Generator<void, void> {
    if (target === index) return
    const start = cut.hasAnchors || cut.isOdd ? text() : undefined
    joined = undefined
    isShared = false
    let isSettled = settleWords(target)
    for (const name of lists) isSettled = (yield* settleList(name, target)) && isSettled
    index = target
    // Each slice was validated alone; references between slices need a check of the full text.
    const isWhole = !cut.isOdd && !isShared
    if (isSettled && (isWhole || textMatches(text(), target))) return
    // A rare change, for example a new list, rewrites the document.
    const whole = rewriteDocument(start ?? text(), target)
    joined = whole
    cut = sliceText(whole, parseOrThrow(whole))
    gone = 0
  }

  return {
    text: () => mark + text() + end,
    /** Returns the text in chunks. */
    *parts(): Generator<string, void> {
      let part = [mark]
      let length = 0
      for (const piece of compact()) {
        part.push(piece.text)
        length += piece.text.length
        if (length < partLength) continue
        yield part.join('')
        part = []
        length = 0
      }
      yield part.join('') + end
    },
    index: () => index,
    steps,
    become(target: WorkIndex): void {
      for (const _ of steps(target));
    },
  }
}

function replace<K extends string, V>(of: Partial<Record<K, V>>, key: K, value: V | undefined) {
  if (value === undefined) delete of[key]
  else of[key] = value
}

/** Returns the document end marker and the comments after it; new items are inserted before it. */
function endOf(text: string): string {
  const at = text.search(/^\.\.\.(?=\s|$)/m)
  const [mark = '', ...lines] = at === -1 ? [] : text.slice(at).split('\n')
  const isEnd = mark !== '' && lines.every((line) => /^\s*(?:#|$)/.test(line))
  return isEnd ? text.slice(at) : ''
}

const idOf = (row: Row): string => String(row['id'])
