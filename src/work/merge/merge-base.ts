import type { Change, WorkIndex } from '../model.ts'
import { inferVersionBounds, isItem, revertChange } from './version-bounds.ts'
import { flatten, itemKey, unflatten } from './flat.ts'
import type { Flat, FlatItem } from './flat.ts'
import { isEqualValue, isSameField, canonicalKey } from './lists.ts'

/** An item that is only on one side counts as much as a few fields. */
const wholeItem = 3

/** What a person had saved, and how far the journal was when it was taken over. */
export type ImportedEdit = {
  readonly index: WorkIndex
  readonly seq: number
  /** False where it was saved too late, into a file that had been replaced. */
  readonly isFile?: boolean
}

export type MergeBase = Pick<ImportedEdit, 'index' | 'seq'> & {
  readonly distance: number
  /** A newer one that it may as well have been made from, farther away: what that changes is not sure. */
  readonly newest?: Pick<ImportedEdit, 'index' | 'seq'>
}

type Known = {
  /** What is not known to have been in the file, after this, counts only if the text proves that it was. */
  readonly flushed?: number
  readonly seen?: readonly ImportedEdit[]
  readonly isFile?: boolean
}

/**
 * The version that a person's text was made from: editors save what they loaded, which may be older than
 * what is on disk. The journal leads back from now, one change after the other, as far as the text does not
 * prove that it is newer; of those the closest to the text is taken, the newest of equal ones.
 * Who saves again and again goes on from what they saved last (`seen`), with old values of others in it. As
 * long as nobody else wrote since, that is also where a person who takes something back begins.
 */
export function findMergeBase(
  now: WorkIndex,
  newestFirst: readonly Change[],
  theirs: WorkIndex,
  { flushed = Infinity, seen = [], isFile = true }: Known = {},
): MergeBase {
  const items = new Map(flatten(now).items)
  const text = flatten(theirs).items
  const said = new Set(entriesOf(theirs))
  let distance = distanceOf(now, text, said)

  const proven = inferVersionBounds(now, newestFirst, theirs)
  const hasAll = (one: ImportedEdit) =>
    inferVersionBounds(now, newestFirst, one.index).since >= proven.since
  const own = isFile ? lastOwn(newestFirst, flushed, seen) : undefined
  const [last] = seen
  // Nothing has been written over it yet: the file was their own text.
  if (own !== undefined && own > flushed && last)
    return { ...last, distance: distanceOf(last.index, text, said) }
  const isOwn = own !== undefined && own <= flushed && own < proven.before
  const since = isOwn ? Math.max(own, proven.since) : proven.since

  const mayBe = (steps: number) => {
    const seq = seqBefore(newestFirst, steps)
    const wasInFile = distance === 0 || seq <= Math.max(flushed, proven.since)
    return wasInFile && seq >= since && seq < proven.before
  }
  let steps = 0
  let best = { steps, distance: mayBe(steps) ? distance : Infinity }
  let newest = mayBe(steps) ? steps : Infinity
  for (const change of newestFirst) {
    steps++
    const { kind, id, fields, quiet } = change
    if (!isItem(kind)) {
      const { from, to } = fields['entry'] ?? {}
      if (to !== undefined) distance += said.has(entryOf(kind, to)) ? 1 : -1
      if (from !== undefined) distance += said.has(entryOf(kind, from)) ? -1 : 1
    } else if (!quiet) {
      const key = itemKey(kind, id)
      const before = revertChange(items.get(key), change)
      distance += between(before, text.get(key)) - between(items.get(key), text.get(key))
      if (before) items.set(key, before)
      else items.delete(key)
    }
    // An item that is not in the text tells nothing of when it was seen last: then as early as may be, so
    // that a person who deletes it does not delete what they never saw.
    const isGone =
      quiet === true || (!change.external && isItem(kind) && !text.has(itemKey(kind, id)))
    const isEarlier =
      isGone && distance > 0 && distance === best.distance && best.steps === steps - 1
    if (!mayBe(steps)) continue
    newest = Math.min(newest, steps)
    if (distance < best.distance || isEarlier) best = { steps, distance }
  }
  const versionAt = (at: number) => ({
    index: versionBefore(now, newestFirst.slice(0, at)),
    seq: seqBefore(newestFirst, at),
  })
  for (const one of isOwn ? seen.slice(0, 1) : seen) {
    const far = distanceOf(one.index, text, said)
    const isCloser = far < best.distance || (!isOwn && far === best.distance && far > 0)
    if (!isCloser || !hasAll(one)) continue
    const isNewer = newest < Infinity && seqBefore(newestFirst, newest) >= one.seq
    return { ...one, distance: far, ...(isNewer && { newest: versionAt(newest) }) }
  }
  return {
    ...versionAt(best.steps),
    distance: best.distance,
    ...(newest < best.steps && { newest: versionAt(newest) }),
  }
}

/** When a person saved the file last, if nobody else has written into it since. */
function lastOwn(
  newestFirst: readonly Change[],
  flushed: number,
  [last]: readonly ImportedEdit[],
): number | undefined {
  if (last?.isFile === false) return undefined
  const saved = Math.max(newestFirst.find(({ external }) => external)?.seq ?? 0, last?.seq ?? 0)
  const isOthers = newestFirst.some(
    ({ seq, external, quiet }) => !external && !quiet && seq > saved && seq <= flushed,
  )
  // Taken over, and the process ended before it was written: what the file said then is not known.
  return isOthers || (saved > flushed && !last) ? undefined : saved
}

/** How it was after the change of this number; nothing where the journal does not lead there. */
export function reconstructVersion(
  now: WorkIndex,
  newestFirst: readonly Change[],
  seq: number,
): WorkIndex | undefined {
  const steps = newestFirst.filter((change) => change.seq > seq)
  if (steps.length > 0 && steps.at(-1)?.seq !== seq + 1) return undefined
  return versionBefore(now, steps)
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
  const worded = (one: unknown) => ({ words: canonicalKey(one), one })
  const entries = {
    history: lists.history.map(worded),
    conflict: lists.conflicts.map(worded),
  }
  for (const change of newestFirst) {
    const { kind, id, fields, quiet } = change
    if (quiet) continue
    if (isItem(kind)) {
      const key = itemKey(kind, id)
      const before = revertChange(items.get(key), change)
      if (before) items.set(key, before)
      else items.delete(key)
      continue
    }
    const { from, to } = fields['entry'] ?? {}
    const [list, gone] = [entries[kind], canonicalKey(to)]
    const at = to === undefined ? -1 : list.findLastIndex(({ words }) => words === gone)
    if (at >= 0) list.splice(at, 1)
    if (from !== undefined) list.push(worded(from))
  }
  const history = entries.history.map(({ one }) => one) as Flat['history']
  const conflicts = entries.conflict.map(({ one }) => one) as Flat['conflicts']
  return unflatten({ items, history, conflicts }, now)
}

const entryOf = (kind: 'history' | 'conflict', entry: unknown) => `${kind} ${canonicalKey(entry)}`

const entriesOf = ({ history, conflicts }: WorkIndex): string[] => [
  ...history.map((one) => entryOf('history', one)),
  ...conflicts.map((one) => entryOf('conflict', one)),
]

const seqBefore = (changes: readonly Change[], steps: number): number =>
  changes[steps]?.seq ?? (changes[steps - 1]?.seq ?? 1) - 1

/** How far apart two states of one item are. */
function between(a: FlatItem | undefined, b: FlatItem | undefined): number {
  if (!a || !b) return a === b ? 0 : wholeItem
  let fields = a.sprint === b.sprint ? 0 : 1
  // As nearly all are.
  if (isEqualValue(a.item, b.item)) return fields
  for (const field of new Set([...Object.keys(a.item), ...Object.keys(b.item)]))
    if (!isSameField(field, a.item[field], b.item[field])) fields++
  return fields
}
