import type { Conflict, WorkIndex } from '../model.ts'
import { flatten, unflatten } from './flat.ts'
import type { Flat, FlatItem, Row } from './flat.ts'
import { isEqualValue, isSameField, mergeLists } from './lists.ts'

export type MergeInput = {
  readonly base: WorkIndex
  /** The acknowledged state in the store. */
  readonly ours: WorkIndex
  /** The file as a person saved it. */
  readonly theirs: WorkIndex
}

/** A field that both sides changed: ours stays, theirs is kept for resolution (W5). */
export type MergeConflict = Pick<Conflict, 'item' | 'field' | 'kind' | 'of' | 'items' | 'seq'> & {
  readonly base?: unknown
  readonly ours?: unknown
  readonly theirs?: unknown
}

/** Maintained by cowork: different values on both sides are not a conflict. */
const bookkeeping = new Set(['rev', 'updated', 'by', 'lease'])

/**
 * Merges each field of each item three ways: a change of one side is applied; a change of both
 * keeps ours and records a conflict. No edit is lost. The result has the order of the person's
 * file.
 */
export function mergeThreeWay({ base, ours, theirs }: MergeInput): {
  merged: WorkIndex
  mergeConflicts: readonly MergeConflict[]
} {
  const [baseItems, ourItems, theirItems] = [flatten(base), flatten(ours), flatten(theirs)]
  const mergeConflicts: MergeConflict[] = []
  const items = new Map<string, FlatItem>()
  for (const key of new Set([...theirItems.items.keys(), ...ourItems.items.keys()])) {
    const merged = mergeItem(
      baseItems.items.get(key),
      ourItems.items.get(key),
      theirItems.items.get(key),
      mergeConflicts,
    )
    if (merged) items.set(key, merged)
  }
  restoreSprints(items, [ourItems, theirItems], mergeConflicts)
  const merged: Flat = {
    items,
    history: mergeLists(baseItems.history, ourItems.history, theirItems.history) as Flat['history'],
    conflicts: mergeLists(
      baseItems.conflicts,
      ourItems.conflicts,
      theirItems.conflicts,
    ) as Flat['conflicts'],
  }
  const marks = [ours.next_story, theirs.next_story].filter((mark) => mark !== undefined)
  return {
    merged: unflatten(merged, {
      version: theirs.version,
      ...(marks.length > 0 && { next_story: Math.max(...marks) }),
    }),
    mergeConflicts,
  }
}

function mergeItem(
  was: FlatItem | undefined,
  mine: FlatItem | undefined,
  yours: FlatItem | undefined,
  mergeConflicts: MergeConflict[],
): FlatItem | undefined {
  if (mine && yours)
    return isUntouched(mine, yours) ? yours : mergeFields(was, mine, yours, mergeConflicts)
  const [left, gone] = mine ? [mine, 'theirs'] : [yours, 'ours']
  if (!left || !was) return left
  // Importing an edit increments `rev`, so the person's text has the previous number.
  const counted = { ...was, item: { ...was.item, rev: left.item['rev'] } }
  if (isUntouched(counted, left)) return undefined
  mergeConflicts.push({
    item: left.id,
    of: left.kind,
    field: '*',
    kind: 'delete_against_edit',
    base: was.item,
    [gone === 'theirs' ? 'ours' : 'theirs']: left.item,
  })
  return left
}

const isUntouched = (was: FlatItem, now: FlatItem): boolean =>
  was.sprint === now.sprint && isEqualValue(was.item, now.item)

function mergeFields(
  was: FlatItem | undefined,
  mine: FlatItem,
  yours: FlatItem,
  mergeConflicts: MergeConflict[],
): FlatItem {
  const { id, kind } = mine
  const before: Row = was?.item ?? {}
  const item: Record<string, unknown> = {}
  const pick = (field: string, from: unknown, own: unknown, other: unknown): unknown => {
    if (isSameField(field, own, other) || isSameField(field, other, from)) return own
    if (isSameField(field, own, from)) return other
    if (Array.isArray(own) && Array.isArray(other))
      return mergeLists(Array.isArray(from) ? from : [], own, other)
    if (!bookkeeping.has(field))
      mergeConflicts.push({
        item: id,
        of: kind,
        field,
        kind: 'same_field',
        base: from,
        ours: own,
        theirs: other,
      })
    return own
  }
  // In the order of the person's file.
  for (const field of new Set([...Object.keys(yours.item), ...Object.keys(mine.item)])) {
    const value = pick(field, before[field], mine.item[field], yours.item[field])
    if (value !== undefined) item[field] = value
  }
  const sprint = pick('sprint', was?.sprint, mine.sprint, yours.sprint)
  return { kind, id, ...(typeof sprint === 'string' && { sprint }), item }
}

/** Keeps the sprint of every remaining story. */
function restoreSprints(
  items: Map<string, FlatItem>,
  sides: readonly Flat[],
  mergeConflicts: MergeConflict[],
): void {
  for (const { kind, sprint } of items.values()) {
    if (kind !== 'story' || sprint === undefined || items.has(`sprint:${sprint}`)) continue
    const kept = sides.map((side) => side.items.get(`sprint:${sprint}`)).find((one) => one)
    if (!kept) continue
    items.set(`sprint:${sprint}`, kept)
    mergeConflicts.push({
      item: sprint,
      of: 'sprint',
      field: '*',
      kind: 'delete_against_edit',
      ours: kept.item,
    })
  }
}

/** Returns the fields that differ; an absent field is undefined. */
export function changedFields(
  from: Row,
  to: Row,
): Record<string, { from?: unknown; to?: unknown }> {
  const fields: Record<string, { from?: unknown; to?: unknown }> = {}
  for (const field of new Set([...Object.keys(from), ...Object.keys(to)]))
    if (!isEqualValue(from[field], to[field]))
      fields[field] = {
        ...(from[field] !== undefined && { from: from[field] }),
        ...(to[field] !== undefined && { to: to[field] }),
      }
  return fields
}
