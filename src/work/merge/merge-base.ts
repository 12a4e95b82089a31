import type { Change, WorkIndex } from '../model.ts'
import { inferVersionBounds, isItem, revertChange } from './version-bounds.ts'
import { flatten, itemKey, unflatten } from './flat.ts'
import type { Flat, FlatItem } from './flat.ts'
import { isEqualValue, isSameField, canonicalKey } from './lists.ts'

/** Distance of an item that exists on one side only. */
const missingItemDistance = 3

/** The content that a person saved, and the change number at its import. */
export type ImportedEdit = {
  readonly index: WorkIndex
  readonly seq: number
  /** False for a late save into a replaced file. */
  readonly isFile?: boolean
}

export type MergeBase = Pick<ImportedEdit, 'index' | 'seq'> & {
  readonly distance: number
  /** A newer possible base with a larger distance; differences between the two are uncertain. */
  readonly newest?: Pick<ImportedEdit, 'index' | 'seq'>
}

type MergeBaseOptions = {
  /**
   * Changes after this number may not have been in the file; they count only if the text proves it.
   */
  readonly flushed?: number
  readonly seen?: readonly ImportedEdit[]
  readonly isFile?: boolean
}

/**
 * Finds the version that a person's text is based on: editors save what they loaded, which can be
 * older than the file. Reverts the journal change by change, within the bounds that the text
 * proves, and picks the version closest to the text, the newest of equal ones. An editor that saves
 * repeatedly continues from its last save (`seen`), which has old values of others. If nobody else
 * wrote since, that save is also the base of a manual revert.
 */
export function findMergeBase(
  now: WorkIndex,
  newestFirst: readonly Change[],
  theirs: WorkIndex,
  { flushed = Infinity, seen = [], isFile = true }: MergeBaseOptions = {},
): MergeBase {
  const items = new Map(flatten(now).items)
  const text = flatten(theirs).items
  const entryKeys = new Set(listEntryKeys(theirs))
  let distance = computeDistance(now, text, entryKeys)

  const bounds = inferVersionBounds(now, newestFirst, theirs)
  const hasAll = (edit: ImportedEdit) =>
    inferVersionBounds(now, newestFirst, edit.index).since >= bounds.since
  const lastSave = isFile ? findLastSave(newestFirst, flushed, seen) : undefined
  const [last] = seen
  // Not flushed since their save: the file was their own text.
  if (lastSave !== undefined && lastSave > flushed && last)
    return { ...last, distance: computeDistance(last.index, text, entryKeys) }
  const isFromLastSave = lastSave !== undefined && lastSave <= flushed && lastSave < bounds.before
  const since = isFromLastSave ? Math.max(lastSave, bounds.since) : bounds.since

  const isPossible = (steps: number) => {
    const seq = seqBefore(newestFirst, steps)
    const wasInFile = distance === 0 || seq <= Math.max(flushed, bounds.since)
    return wasInFile && seq >= since && seq < bounds.before
  }
  let steps = 0
  let best = { steps, distance: isPossible(steps) ? distance : Infinity }
  let newest = isPossible(steps) ? steps : Infinity
  for (const change of newestFirst) {
    steps++
    const { kind, id, fields, quiet } = change
    if (!isItem(kind)) {
      const { from, to } = fields['entry'] ?? {}
      if (to !== undefined) distance += entryKeys.has(toEntryKey(kind, to)) ? 1 : -1
      if (from !== undefined) distance += entryKeys.has(toEntryKey(kind, from)) ? -1 : 1
    } else if (!quiet) {
      const key = itemKey(kind, id)
      const before = revertChange(items.get(key), change)
      distance += itemDistance(before, text.get(key)) - itemDistance(items.get(key), text.get(key))
      if (before) items.set(key, before)
      else items.delete(key)
    }
    // An item missing in the text does not show when it was last seen. Choose the earliest base, so
    // that a person does not delete changes they never saw.
    const isGone =
      quiet === true || (!change.external && isItem(kind) && !text.has(itemKey(kind, id)))
    const isEarlier =
      isGone && distance > 0 && distance === best.distance && best.steps === steps - 1
    if (!isPossible(steps)) continue
    newest = Math.min(newest, steps)
    if (distance < best.distance || isEarlier) best = { steps, distance }
  }
  const versionAt = (at: number) => ({
    index: versionBefore(now, newestFirst.slice(0, at)),
    seq: seqBefore(newestFirst, at),
  })
  for (const one of isFromLastSave ? seen.slice(0, 1) : seen) {
    const editDistance = computeDistance(one.index, text, entryKeys)
    const isCloser =
      editDistance < best.distance ||
      (!isFromLastSave && editDistance === best.distance && editDistance > 0)
    if (!isCloser || !hasAll(one)) continue
    const isNewer = newest < Infinity && seqBefore(newestFirst, newest) >= one.seq
    return { ...one, distance: editDistance, ...(isNewer && { newest: versionAt(newest) }) }
  }
  return {
    ...versionAt(best.steps),
    distance: best.distance,
    ...(newest < best.steps && { newest: versionAt(newest) }),
  }
}

/** Returns the number of the last imported save, if cowork has not written the file since. */
function findLastSave(
  newestFirst: readonly Change[],
  flushed: number,
  [last]: readonly ImportedEdit[],
): number | undefined {
  if (last?.isFile === false) return undefined
  const saved = Math.max(newestFirst.find(({ external }) => external)?.seq ?? 0, last?.seq ?? 0)
  const isOthers = newestFirst.some(
    ({ seq, external, quiet }) => !external && !quiet && seq > saved && seq <= flushed,
  )
  // Imported, but the process ended before the flush: the content of the file is unknown.
  return isOthers || (saved > flushed && !last) ? undefined : saved
}

/**
 * Reconstructs the index after the change with this number; undefined if the journal is too short.
 */
export function reconstructVersion(
  now: WorkIndex,
  newestFirst: readonly Change[],
  seq: number,
): WorkIndex | undefined {
  const steps = newestFirst.filter((change) => change.seq > seq)
  if (steps.length > 0 && steps.at(-1)?.seq !== seq + 1) return undefined
  return versionBefore(now, steps)
}

function computeDistance(
  index: WorkIndex,
  text: ReadonlyMap<string, FlatItem>,
  entryKeys: ReadonlySet<string>,
): number {
  const { items } = flatten(index)
  const has = new Set(listEntryKeys(index))
  let distance = [...entryKeys].filter((entry) => !has.has(entry)).length
  for (const entry of has) if (!entryKeys.has(entry)) distance++
  for (const key of new Set([...items.keys(), ...text.keys()]))
    distance += itemDistance(items.get(key), text.get(key))
  return distance
}

/** Reverts changes of the index. */
function versionBefore(now: WorkIndex, newestFirst: readonly Change[]): WorkIndex {
  const { items: known, ...lists } = flatten(now)
  const items = new Map(known)
  const withKey = (one: unknown) => ({ key: canonicalKey(one), one })
  const entries = {
    history: lists.history.map(withKey),
    conflict: lists.conflicts.map(withKey),
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
    const at = to === undefined ? -1 : list.findLastIndex(({ key }) => key === gone)
    if (at >= 0) list.splice(at, 1)
    if (from !== undefined) list.push(withKey(from))
  }
  const history = entries.history.map(({ one }) => one) as Flat['history']
  const conflicts = entries.conflict.map(({ one }) => one) as Flat['conflicts']
  return unflatten({ items, history, conflicts }, now)
}

const toEntryKey = (kind: 'history' | 'conflict', entry: unknown) =>
  `${kind} ${canonicalKey(entry)}`

const listEntryKeys = ({ history, conflicts }: WorkIndex): string[] => [
  ...history.map((one) => toEntryKey('history', one)),
  ...conflicts.map((one) => toEntryKey('conflict', one)),
]

const seqBefore = (changes: readonly Change[], steps: number): number =>
  changes[steps]?.seq ?? (changes[steps - 1]?.seq ?? 1) - 1

/** Returns the distance between two states of an item. */
function itemDistance(a: FlatItem | undefined, b: FlatItem | undefined): number {
  if (!a || !b) return a === b ? 0 : missingItemDistance
  let fields = a.sprint === b.sprint ? 0 : 1
  // Fast path: nearly all items are equal.
  if (isEqualValue(a.item, b.item)) return fields
  for (const field of new Set([...Object.keys(a.item), ...Object.keys(b.item)]))
    if (!isSameField(field, a.item[field], b.item[field])) fields++
  return fields
}
