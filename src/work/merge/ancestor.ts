import type { Change, ItemKind, WorkIndex } from '../model.ts'
import { flatten, keyOf, unflatten } from './flat.ts'
import type { Flat, FlatItem } from './flat.ts'
import { isSame, isSameField, wordsOf } from './lists.ts'

/** An item that is only on one side counts as much as a few fields. */
const wholeItem = 3

/** What a person had saved, and how far the journal was when it was taken over. */
export type Seen = { readonly index: WorkIndex; readonly seq: number }

/**
 * The version that a person's text was made from: editors save what they loaded, which may be older than
 * what is on disk. The journal leads back from now, one change after the other; the version closest to the
 * text is taken, the newest of equal ones. What is not known to have been in the file (after `flushed`)
 * counts only if the text is exactly that: then it was written, and the process ended before it said so.
 * Who saves again and again goes on from what they saved last (`seen`), with old values of others in it.
 */
export function closestVersion(
  now: WorkIndex,
  newestFirst: readonly Change[],
  theirs: WorkIndex,
  { flushed = Infinity, seen = [] }: { flushed?: number; seen?: readonly Seen[] } = {},
): Seen & { readonly distance: number } {
  const items = new Map(flatten(now).items)
  const text = flatten(theirs).items
  const said = new Set(entriesOf(theirs))
  let distance = distanceOf(now, text, said)

  const mayBe = (steps: number) => distance === 0 || seqBefore(newestFirst, steps) <= flushed
  let steps = 0
  let best = { steps, distance: mayBe(steps) ? distance : Infinity }
  for (const change of newestFirst) {
    steps++
    const { kind, id, fields, quiet } = change
    if (!isItem(kind)) {
      const { from, to } = fields['entry'] ?? {}
      if (to !== undefined) distance += said.has(entryOf(kind, to)) ? 1 : -1
      if (from !== undefined) distance += said.has(entryOf(kind, from)) ? -1 : 1
    } else if (!quiet) {
      const key = keyOf(kind, id)
      const before = undone(items.get(key), change)
      distance += between(before, text.get(key)) - between(items.get(key), text.get(key))
      if (before) items.set(key, before)
      else items.delete(key)
    }
    // An item that is not in the text tells nothing of when it was seen last: then as early as may be, so
    // that a person who deletes it does not delete what they never saw.
    const isGone =
      quiet === true || (!change.external && isItem(kind) && !text.has(keyOf(kind, id)))
    const isEarlier =
      isGone && distance > 0 && distance === best.distance && best.steps === steps - 1
    if ((distance < best.distance || isEarlier) && mayBe(steps)) best = { steps, distance }
  }
  for (const one of seen) {
    const far = distanceOf(one.index, text, said)
    if (far < best.distance || (far === best.distance && far > 0)) return { ...one, distance: far }
  }
  const index = versionBefore(now, newestFirst.slice(0, best.steps))
  return { index, seq: seqBefore(newestFirst, best.steps), distance: best.distance }
}

function distanceOf(
  index: WorkIndex,
  text: ReadonlyMap<string, FlatItem>,
  said: ReadonlySet<string>,
): number {
  const { items } = flatten(index)
  const has = new Set(entriesOf(index))
  let distance = [...said].filter((entry) => !has.has(entry)).length
  for (const entry of has) if (!said.has(entry)) distance++
  for (const key of new Set([...items.keys(), ...text.keys()]))
    distance += between(items.get(key), text.get(key))
  return distance
}

/** How it was before these changes. */
function versionBefore(now: WorkIndex, newestFirst: readonly Change[]): WorkIndex {
  const { items: known, ...lists } = flatten(now)
  const items = new Map(known)
  const worded = (one: unknown) => ({ words: wordsOf(one), one })
  const entries = {
    history: lists.history.map(worded),
    conflict: lists.conflicts.map(worded),
  }
  for (const change of newestFirst) {
    const { kind, id, fields, quiet } = change
    if (quiet) continue
    if (isItem(kind)) {
      const key = keyOf(kind, id)
      const before = undone(items.get(key), change)
      if (before) items.set(key, before)
      else items.delete(key)
      continue
    }
    const { from, to } = fields['entry'] ?? {}
    const [list, gone] = [entries[kind], wordsOf(to)]
    const at = to === undefined ? -1 : list.findLastIndex(({ words }) => words === gone)
    if (at >= 0) list.splice(at, 1)
    if (from !== undefined) list.push(worded(from))
  }
  const history = entries.history.map(({ one }) => one) as Flat['history']
  const conflicts = entries.conflict.map(({ one }) => one) as Flat['conflicts']
  return unflatten({ items, history, conflicts }, now)
}

const entryOf = (kind: 'history' | 'conflict', entry: unknown) => `${kind} ${wordsOf(entry)}`

const entriesOf = ({ history, conflicts }: WorkIndex): string[] => [
  ...history.map((one) => entryOf('history', one)),
  ...conflicts.map((one) => entryOf('conflict', one)),
]

const isItem = (kind: Change['kind']): kind is ItemKind =>
  kind === 'sprint' || kind === 'story' || kind === 'backlog'

const seqBefore = (changes: readonly Change[], steps: number): number =>
  changes[steps]?.seq ?? (changes[steps - 1]?.seq ?? 1) - 1

/** How far apart two states of one item are. */
function between(a: FlatItem | undefined, b: FlatItem | undefined): number {
  if (!a || !b) return a === b ? 0 : wholeItem
  let fields = a.sprint === b.sprint ? 0 : 1
  // As nearly all are.
  if (isSame(a.item, b.item)) return fields
  for (const field of new Set([...Object.keys(a.item), ...Object.keys(b.item)]))
    if (!isSameField(field, a.item[field], b.item[field])) fields++
  return fields
}

/** The item before a change. */
function undone(item: FlatItem | undefined, change: Change): FlatItem | undefined {
  const { kind, id, op, fields } = change
  if (op === 'add') return undefined
  const before: Record<string, unknown> = { ...(op === 'remove' ? {} : item?.item) }
  for (const [field, { from }] of Object.entries(fields)) {
    if (from === undefined) delete before[field]
    else before[field] = from
  }
  const sprint = change.fromSprint ?? change.sprint ?? item?.sprint
  return {
    kind: kind as ItemKind,
    id,
    ...(kind === 'story' && sprint !== undefined && { sprint }),
    item: before,
  }
}
