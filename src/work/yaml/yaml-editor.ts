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

type SprintWithStories = WorkIndex['sprints'][number]

/** Yield after comparing this many items; rewriting one takes ten times as long. */
const yieldAfter = 200
/** Maximum number of removed slices before the list is compacted. */
const maxRemoved = 1000
const partLength = 50_000

/**
 * An editor of a work-index.yaml that preserves every byte outside the changed items (W4). The text
 * is sliced once at the boundaries of its items, so that the cost of a change does not depend on
 * the file length.
 */
export type YamlEditor = ReturnType<typeof createYamlEditor>

export function createYamlEditor(source: string, parsed: WorkIndex) {
  const bom = source.startsWith('\ufeff') ? '\ufeff' : ''
  const documentEnd = findDocumentEnd(source)
  let sliced = sliceText(source.slice(bom.length, source.length - documentEnd.length), parsed)
  let index = parsed
  let joined: string | undefined
  let removedCount = 0
  let workDone = 0
  /** Whether lines with anchors or aliases were changed. */
  let isShared = false

  function compact(): readonly TextSlice[] {
    if (removedCount > maxRemoved) {
      sliced.slices = sliced.slices.filter(({ isGone }) => !isGone)
      removedCount = 0
    }
    return sliced.slices
  }

  const text = () => (joined ??= joinSlices(compact()))

  function markShared(lines: string): void {
    isShared ||= sliced.hasAnchors && /[&*]/.test(lines)
  }

  function removeSlice(piece: TextSlice): void {
    markShared(piece.text)
    piece.text = ''
    piece.isGone = true
    removedCount++
  }

  /** Yields when enough work was done. */
  function* yieldIfDue(more: number): Generator<void, void> {
    workDone += more
    if (workDone < yieldAfter) return
    workDone = 0
    yield
  }

  /** Applies the target to a list. Returns false if the section must be rewritten. */
  function* applyList(
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
        removeSlice(row.slice)
        continue
      }
      wanted.delete(key)
      if (to === row.value) continue
      const isEqual = isDeepStrictEqual(to, row.value)
      if (!isEqual) {
        markShared(row.slice.text)
        row.slice.text = emitChangedItem(row.slice.text, row.value, to, dash, sliced.eol)
      }
      row.value = to
      yield* yieldIfDue(isEqual ? 1 : 10)
    }
    rows.splice(0, rows.length, ...kept)
    if (wanted.size > 0) yield* insert(list, [...wanted.values()])
    return true
  }

  function* insert(list: ListSlice, values: readonly Row[]): Generator<void, void> {
    const { rows, dash, isNewestFirst } = list
    const { slices, eol } = sliced
    const added: ListSlice['rows'] = []
    for (const value of isNewestFirst ? values.toReversed() : values) {
      added.push({ value, slice: { text: emitNewItem(value, dash, eol) } })
      yield* yieldIfDue(10)
    }
    const neighbour = (isNewestFirst ? rows[0] : rows.at(-1))?.slice
    const at = neighbour ? slices.indexOf(neighbour) : -1
    if (!isNewestFirst && neighbour && !neighbour.text.endsWith('\n')) neighbour.text += eol
    slices.splice(isNewestFirst ? at : at + 1, 0, ...added.map(({ slice }) => slice))
    rows.splice(isNewestFirst ? 0 : rows.length, 0, ...added)
  }

  function* applySprint(own: SprintSlice, target: SprintWithStories): Generator<void, boolean> {
    const { stories, ...value } = target
    if (!isDeepStrictEqual(value, own.value)) {
      markShared(own.head.text + own.tail.text)
      const fields = diffFields(own.value, value)
      const edited = editItem(own.head.text + own.tail.text, fields, sliced.eol)
      // If the tail has lines of its own, the edited text cannot be split again.
      if (edited === undefined || own.tail.text !== '' || !itemTextMatches(edited, value))
        return false
      own.head.text = edited
      own.value = value
    }
    if (!own.stories) return own.unslicedCount === 0 && (stories ?? []).length === 0
    return yield* applyList(own.stories, stories ?? [], idKeys)
  }

  /** Applies the target to the sprints, one by one. */
  function* applySprints(target: WorkIndex['sprints']): Generator<void, boolean> {
    const { sprints } = sliced
    if (sprints.length === 0) return target.length === 0 && index.sprints.length === 0
    const wanted = new Map(target.map((sprint) => [sprint.id, sprint]))
    if (!sprints.some(({ value }) => wanted.has(getId(value)))) return false
    for (const own of sprints.slice()) {
      const id = getId(own.value)
      const to = wanted.get(id)
      wanted.delete(id)
      if (!to) removeSprint(own)
      else if (!(yield* applySprint(own, to)) && !rewriteSprint(own, to)) return false
    }
    for (const sprint of wanted.values()) if (!addSprint(sprint)) return false
    return true
  }

  function rewriteSprint(own: SprintSlice, to: SprintWithStories): boolean {
    const { slices, eol, dash } = sliced
    const [from, last] = [slices.indexOf(own.head), slices.indexOf(own.tail)]
    const before = joinSlices(slices.slice(from, last + 1))
    markShared(before)
    const was = parseValues(`sprints:${eol}${before}`)?.sprints[0]
    return was !== undefined && putSprint(own, to, emitChangedItem(before, was, to, dash, eol))
  }

  function addSprint(sprint: SprintWithStories): boolean {
    const last = sliced.sprints.at(-1)
    if (!last) return false
    const { slices, eol, dash } = sliced
    const before = slices.slice(0, slices.indexOf(last.tail) + 1).findLast((one) => one.text !== '')
    const isOpen = before !== undefined && !before.text.endsWith('\n')
    const [head, tail] = [{ text: '' }, { text: '' }]
    const empty: SprintSlice = { head, tail, value: {}, stories: undefined, unslicedCount: 0 }
    slices.splice(slices.indexOf(last.tail) + 1, 0, head, tail)
    sliced.sprints.push(empty)
    if (isOpen) before.text += eol
    return putSprint(empty, sprint, emitNewItem(sprint, dash, eol))
  }

  function removeSprint(own: SprintSlice): void {
    const { slices, sprints } = sliced
    const from = slices.indexOf(own.head)
    markShared(joinSlices(slices.splice(from, slices.indexOf(own.tail) - from + 1)))
    sprints.splice(sprints.indexOf(own), 1)
  }

  /** Replaces the lines of a sprint and slices the new ones. */
  function putSprint(own: SprintSlice, to: SprintWithStories, lines: string): boolean {
    const { slices, sprints, eol } = sliced
    const from = slices.indexOf(own.head)
    const count = slices.indexOf(own.tail) - from + 1
    const top = `sprints:${eol}`
    const values = parseValues(top + lines)
    const part = values && sliceText(top + lines, values)
    const [one, ...more] = part?.sprints ?? []
    const start = part?.slices.findIndex(({ text }) => text === top) ?? -1
    if (!part || !one || more.length > 0 || start === -1) return false
    if (!isEqualIndex(values, { ...values, sprints: [to] })) return false
    slices.splice(from, count, ...part.slices.slice(start + 1))
    sprints[sprints.indexOf(own)] = one
    return true
  }

  /** Rewrites the section of a list that becomes empty or gets its first item. */
  function rewriteSection(name: ListName, rows: readonly Row[]): boolean {
    const { slices } = sliced
    const section = sliced.sections[name]
    if (!section) return false
    const [from, last] = [slices.indexOf(section.first), slices.indexOf(section.last)]
    const before = joinSlices(slices.slice(from, last + 1))
    markShared(before)
    const was = parseValues(before)
    if (!was) return false
    const wanted = { ...was, [name]: rows }
    const after = rewriteLists(before, was, wanted)
    const values = parseValues(after)
    if (!values || !isEqualIndex(values, wanted)) return false
    const part = sliceText(after, values)
    slices.splice(from, last - from + 1, ...part.slices)
    if (name === 'sprints') sliced.sprints = part.sprints
    sliced.dash = name === 'sprints' ? part.dash : sliced.dash
    setOrDelete(sliced.lists, name, part.lists[name])
    setOrDelete(sliced.sections, name, part.sections[name])
    return true
  }

  function* applyListByName(name: ListName, target: WorkIndex): Generator<void, boolean> {
    const rows = target[name] as readonly Row[]
    const list = sliced.lists[name]
    const isApplied =
      name === 'sprints'
        ? yield* applySprints(target.sprints)
        : list
          ? yield* applyList(list, rows, name === 'history' ? entryKeys : idKeys)
          : rows.length === 0 && index[name].length === 0
    return isApplied || rewriteSection(name, rows)
  }

  function applyScalars(target: WorkIndex): boolean {
    return scalarKeys.every((word) => {
      const [piece, to] = [sliced.scalars[word], target[word]]
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
    const start = sliced.hasAnchors || sliced.hasUnusualSyntax ? text() : undefined
    joined = undefined
    isShared = false
    let isApplied = applyScalars(target)
    for (const name of lists) isApplied = (yield* applyListByName(name, target)) && isApplied
    index = target
    // Each slice was validated alone; references between slices need a check of the full text.
    const isWhole = !sliced.hasUnusualSyntax && !isShared
    if (isApplied && (isWhole || textMatches(text(), target))) return
    // A rare change, for example a new list, rewrites the document.
    const whole = rewriteDocument(start ?? text(), target)
    joined = whole
    sliced = sliceText(whole, parseOrThrow(whole))
    removedCount = 0
  }

  return {
    text: () => bom + text() + documentEnd,
    /** Returns the text in chunks. */
    *parts(): Generator<string, void> {
      let part = [bom]
      let length = 0
      for (const piece of compact()) {
        part.push(piece.text)
        length += piece.text.length
        if (length < partLength) continue
        yield part.join('')
        part = []
        length = 0
      }
      yield part.join('') + documentEnd
    },
    index: () => index,
    steps,
    update(target: WorkIndex): void {
      for (const _ of steps(target));
    },
  }
}

function setOrDelete<K extends string, V>(of: Partial<Record<K, V>>, key: K, value: V | undefined) {
  if (value === undefined) delete of[key]
  else of[key] = value
}

/** Returns the document end marker and the comments after it; new items are inserted before it. */
function findDocumentEnd(text: string): string {
  const at = text.search(/^\.\.\.(?=\s|$)/m)
  const [mark = '', ...lines] = at === -1 ? [] : text.slice(at).split('\n')
  const isEnd = mark !== '' && lines.every((line) => /^\s*(?:#|$)/.test(line))
  return isEnd ? text.slice(at) : ''
}

const getId = (row: Row): string => String(row['id'])
