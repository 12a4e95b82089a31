import type { Change, ItemKind, WorkIndex } from '../model.ts'
import { flatten, keyOf, unflatten } from './flat.ts'
import type { Flat, FlatItem } from './flat.ts'
import { isSameField, wordsOf } from './lists.ts'

/** An item that is only on one side counts as much as a few fields. */
const wholeItem = 3

/**
 * The version that a person's text was made from: editors save what they loaded, which may be older than
 * what is on disk. The journal leads back from now, one change after the other; the version closest to the
 * text is taken, the newest of equal ones. What is not known to have been in the file (after `flushed`)
 * counts only if the text is exactly that: then it was written, and the process ended before it said so.
 */
export function closestVersion(
  now: WorkIndex,
  newestFirst: readonly Change[],
  theirs: WorkIndex,
  flushed = Infinity,
): { readonly index: WorkIndex; readonly seq: number; readonly distance: number } {
  const items = new Map(flatten(now).items)
  const text = flatten(theirs).items
  const history = new Set(theirs.history.map(wordsOf))
  let distance = 0
  for (const key of new Set([...items.keys(), ...text.keys()]))
    distance += between(items.get(key), text.get(key))
  let known = now.history
  for (const entry of known) if (!history.has(wordsOf(entry))) distance++

  const mayBe = (steps: number) => distance === 0 || seqBefore(newestFirst, steps) <= flushed
  let steps = 0
  let best = { steps, distance: mayBe(steps) ? distance : Infinity }
  for (const change of newestFirst) {
    steps++
    if (change.kind === 'history') {
      const entry = change.fields['entry']?.to
      if (entry !== undefined && !history.has(wordsOf(entry))) distance--
    } else if (isItem(change.kind) && !change.quiet) {
      const key = keyOf(change.kind, change.id)
      const before = undone(items.get(key), change)
      distance += between(before, text.get(key)) - between(items.get(key), text.get(key))
      if (before) items.set(key, before)
      else items.delete(key)
    }
    if (distance < best.distance && mayBe(steps)) best = { steps, distance }
  }

  const taken = newestFirst.slice(0, best.steps)
  const flat: { -readonly [K in keyof Flat]: Flat[K] } = { ...flatten(now) }
  const back = new Map(flat.items)
  for (const change of taken) {
    if (change.quiet) continue
    if (isItem(change.kind)) {
      const key = keyOf(change.kind, change.id)
      const before = undone(back.get(key), change)
      if (before) back.set(key, before)
      else back.delete(key)
    } else if (change.kind === 'history') {
      const entry = wordsOf(change.fields['entry']?.to)
      known = known.filter((one) => wordsOf(one) !== entry)
    } else if (change.kind === 'conflict') {
      const { from } = change.fields['entry'] ?? {}
      const others = flat.conflicts.filter(({ id }) => id !== change.id)
      flat.conflicts = from === undefined ? others : [...others, from as Flat['conflicts'][number]]
    }
  }
  const index = unflatten({ ...flat, items: back, history: known }, now)
  return { index, seq: seqBefore(newestFirst, best.steps), distance: best.distance }
}

const isItem = (kind: Change['kind']): kind is ItemKind =>
  kind === 'sprint' || kind === 'story' || kind === 'backlog'

const seqBefore = (changes: readonly Change[], steps: number): number =>
  changes[steps]?.seq ?? (changes[steps - 1]?.seq ?? 1) - 1

/** How far apart two states of one item are. */
function between(a: FlatItem | undefined, b: FlatItem | undefined): number {
  if (!a || !b) return a === b ? 0 : wholeItem
  let fields = a.sprint === b.sprint ? 0 : 1
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
