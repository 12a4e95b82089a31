import type { Tx } from '#base/db/port.ts'
import type { EntryDraft } from '#base/entry.ts'
import { formatRfc3339 } from '#base/clock.ts'
import { newId } from '#base/ids.ts'
import type { Journal, JournalStep } from '../journal.ts'
import { findMergeBase } from '../merge/merge-base.ts'
import type { ImportedEdit } from '../merge/merge-base.ts'
import { flatten, unflatten } from '../merge/flat.ts'
import type { Flat, FlatItem } from '../merge/flat.ts'
import { isEqualValue, canonicalKey } from '../merge/lists.ts'
import { mergeThreeWay } from '../merge/merge.ts'
import type { MergeConflict } from '../merge/merge.ts'
import type { Change, Conflict, HistoryEntry, WorkIndex } from '../model.ts'
import { nextStoryNumber } from '../rules.ts'
import type { Stored, WorkStore } from '../store.ts'

type Edit = {
  readonly project: string
  readonly theirs: WorkIndex
  /** The path of the copy of the text, relative to the project folder. */
  readonly copy: string
  /** False for a late save into a replaced file. */
  readonly isFile: boolean
  readonly seen: readonly ImportedEdit[]
  readonly at: number
}

/** Number of versions searched for the merge base. */
const maxVersionsSearched = 2000
export const fileEditorId = 'person:file'

/** Merges a person's edit of the file into the store three ways and appends an entry (W5). */
export async function importEdit(
  tx: Tx,
  { store, journal }: { store: WorkStore; journal: Journal },
  { project, theirs, copy, isFile, seen, at }: Edit,
): Promise<{ readonly seq: number; readonly conflicts: number }> {
  const row = await journal.lockProject(tx, project)
  const stored = await store.items(tx, project)
  const ours = buildIndex(stored, row.version, row.nextStory)
  const changes = await store.changesSince(tx, project, row.flushed - maxVersionsSearched)
  const base = findMergeBase(ours, changes.toReversed(), theirs, {
    flushed: row.flushed,
    seen,
    isFile,
  })
  const { merged, mergeConflicts } = mergeThreeWay({ base: base.index, ours, theirs })
  // A later save with the same conflicting text adds no new conflict.
  const isNewConflict = (mergeConflict: MergeConflict) =>
    !merged.conflicts.some((known) => isKnownConflict(known, mergeConflict))
  const newConflicts = mergeConflicts.filter(isNewConflict)
  const isRevert = isFile && base.distance === 0 && base.seq < row.flushed
  const alternative = base.newest && mergeThreeWay({ base: base.newest.index, ours, theirs }).merged
  const items = alternative ? listUncertainItems(merged, alternative, mergeConflicts) : []
  if (isRevert || items.length > 0) {
    const seq = base.newest?.seq ?? row.flushed
    const revert: MergeConflict = {
      item: '*',
      field: '*',
      kind: 'possible_revert',
      ...(items.length > 0 && { items }),
      seq,
    }
    if (isRevert || isNewConflict(revert)) newConflicts.push(revert)
  }
  const conflicts = newConflicts.map((mergeConflict) => toConflict(mergeConflict, copy, at))
  const steps = diffSteps(stored, ours, merged, conflicts)
  if (steps.length > 0)
    await journal.write(
      tx,
      row,
      { by: fileEditorId, at, external: true },
      steps,
      nextStoryNumber(row.nextStory, merged),
    )
  if (steps.length > 0 || newConflicts.length > 0)
    tx.append(
      mergedEntry(project, steps.length, [...new Set(steps.map(({ id }) => id))], conflicts, copy),
    )
  return { seq: row.seq + steps.length, conflicts: conflicts.length }
}

export const mergedEntry = (
  project: string,
  changes: number,
  items: readonly string[],
  conflicts: readonly Conflict[],
  copy: string,
): EntryDraft => ({
  type: 'work.merged',
  actor: { kind: 'human', id: fileEditorId, verified: false },
  domain: 'work',
  subject: project,
  outcome: conflicts.length > 0 ? 'conflicts' : 'clean',
  data: {
    changes,
    items: items.slice(0, 50),
    ...(conflicts.length > 0 && {
      conflicts: conflicts.map(({ id, item, field }) => ({ id, item, field })),
      copy,
    }),
  },
})

export const isKnownConflict = (known: Conflict, mergeConflict: MergeConflict): boolean =>
  known.item === mergeConflict.item &&
  known.of === mergeConflict.of &&
  known.field === mergeConflict.field &&
  known.kind === mergeConflict.kind &&
  isEqualValue(known.theirs, mergeConflict.theirs) &&
  (mergeConflict.items ?? []).every(
    (storedItem) => Array.isArray(known.items) && known.items.includes(storedItem),
  )

export function toConflict(mergeConflict: MergeConflict, copy: string, at: number): Conflict {
  const { base, ours, theirs, ...rest } = mergeConflict
  return {
    id: `conflict-${newId().slice(-12)}`,
    ...rest,
    ...(base !== undefined && { base }),
    ...(ours !== undefined && { ours }),
    ...(theirs !== undefined && { theirs }),
    at: formatRfc3339(at),
    copy,
  }
}

/** Lists the items that would differ with a newer merge base and have no conflict of their own. */
function listUncertainItems(
  merged: WorkIndex,
  other: WorkIndex,
  mergeConflicts: readonly MergeConflict[],
): string[] {
  const [current, alternative] = [flatten(merged).items, flatten(other).items]
  const newConflicts = new Set(mergeConflicts.map(({ item, of }) => `${of}:${item}`))
  const items = [...new Set([...current.keys(), ...alternative.keys()])]
    .filter(
      (key) =>
        !newConflicts.has(key) &&
        !isEqualValue(
          withoutBookkeeping(current.get(key)),
          withoutBookkeeping(alternative.get(key)),
        ),
    )
    .map((key) => key.slice(key.indexOf(':') + 1))
  const entries = (index: WorkIndex) => index.history.map(canonicalKey).toSorted()
  return isEqualValue(entries(merged), entries(other)) ? items : [...items, 'history']
}

/** Removes the fields that cowork maintains. */
const withoutBookkeeping = (one: FlatItem | undefined) =>
  one && { sprint: one.sprint, ...one.item, rev: null, updated: null, by: null, lease: null }

export function buildIndex(
  stored: readonly Stored[],
  version: number,
  nextStory: number,
): WorkIndex {
  const items = new Map<string, FlatItem>()
  const history: HistoryEntry[] = []
  const conflicts: Conflict[] = []
  for (const { kind, id, sprint, item } of stored) {
    if (kind === 'history') history.push(item as HistoryEntry)
    else if (kind === 'conflict') conflicts.push(item as Conflict)
    else items.set(`${kind}:${id}`, { kind, id, ...(sprint !== null && { sprint }), item })
  }
  const flat: Flat = { items, history, conflicts }
  return unflatten(flat, { version, ...(version > 1 && { next_story: nextStory }) })
}

/** Returns the steps that change the store from `from` to `to`. */
export function diffSteps(
  stored: readonly Stored[],
  from: WorkIndex,
  to: WorkIndex,
  conflicts: readonly Conflict[],
): JournalStep[] {
  const known = new Map(stored.map((one) => [`${one.kind}:${one.id}`, one]))
  const [oldItems, newItems] = [flatten(from).items, flatten(to).items]
  const steps: JournalStep[] = []
  for (const [key, one] of newItems) {
    const before = known.get(key)
    const isInSprint = (before?.sprint ?? undefined) === one.sprint
    if (before && isInSprint && isEqualValue(before.item, one.item)) continue
    const { kind, id, sprint = null, item } = one
    steps.push({ kind, id, before, after: { item: incrementRev(item, before), sprint } })
  }
  for (const [key, { kind, id }] of oldItems)
    if (!newItems.has(key)) steps.push({ kind, id, before: known.get(key), after: undefined })
  steps.push(...diffEntries('history', stored, to.history))
  steps.push(...diffEntries('conflict', stored, [...to.conflicts, ...conflicts]))
  return steps
}

/** Increments `rev` if the file has it. */
const incrementRev = (item: FlatItem['item'], before: Stored | undefined): FlatItem['item'] =>
  before && 'rev' in item ? { ...item, rev: before.rev + 1 } : item

function diffEntries(
  kind: 'history' | 'conflict',
  stored: readonly Stored[],
  target: readonly Readonly<Record<string, unknown>>[],
): JournalStep[] {
  const unmatched = new Map<string, Stored[]>()
  for (const one of stored.filter((item) => item.kind === kind)) {
    const key = canonicalKey(one.item)
    unmatched.set(key, [...(unmatched.get(key) ?? []), one])
  }
  const steps: JournalStep[] = []
  for (const item of target) {
    if (unmatched.get(canonicalKey(item))?.shift()) continue
    const id = kind === 'conflict' && typeof item['id'] === 'string' ? item['id'] : newId()
    const before =
      kind === 'conflict' ? stored.find((one) => one.kind === kind && one.id === id) : undefined
    steps.push({ kind, id, before, after: { item } })
  }
  const kept = new Set(steps.map(({ id }) => id))
  for (const gone of [...unmatched.values()].flat())
    if (!kept.has(gone.id)) steps.push({ kind, id: gone.id, before: gone, after: undefined })
  return steps
}

/** Imports a new project from its file. */
export async function importProject(
  tx: Tx,
  store: WorkStore,
  project: string,
  index: WorkIndex,
): Promise<void> {
  const fence = findNewestClaim(index)
  await store.addProject(tx, project, index.version, nextStoryNumber(1, index), fence?.seq ?? 0)
  if (fence) await store.addChanges(tx, [{ ...fence, project, rev: 1 }])
  let place = 0
  const items: Stored[] = [...flatten(index).items.values()].map(({ kind, id, sprint, item }) => ({
    kind,
    id,
    sprint: sprint ?? null,
    place: place++,
    item,
    rev: typeof item['rev'] === 'number' ? item['rev'] : 1,
  }))
  const entries = (kind: 'history' | 'conflict', list: readonly Stored['item'][]) =>
    list.map((item) => ({
      kind,
      id: kind === 'conflict' ? String(item['id']) : newId(),
      sprint: null,
      place: place++,
      item,
      rev: 1,
    }))
  const rows = [
    ...items,
    ...entries('history', index.history),
    ...entries('conflict', index.conflicts),
  ]
  for (let at = 0; at < rows.length; at += 500)
    await store.insertMany(tx, project, rows.slice(at, at + 500))
}

/** Larger fences can only be edited by hand and would break the numbering of changes. */
const maxFence = 2 ** 40

/**
 * Returns the newest claim in the file. A fence is a change number, so the journal continues from
 * it and never reuses a fence of an earlier store (W20).
 */
function findNewestClaim({ sprints }: WorkIndex): Omit<Change, 'project'> | undefined {
  let last: Omit<Change, 'project'> | undefined
  for (const { id: sprint, stories } of sprints)
    for (const { id, lease } of stories ?? []) {
      if (!lease || lease.fence <= (last?.seq ?? 0) || lease.fence > maxFence) continue
      const at = Date.parse(lease.since) || 0
      last = {
        seq: lease.fence,
        kind: 'story',
        id,
        op: 'set',
        fields: {},
        sprint,
        fromSprint: sprint,
        at,
        by: lease.agent,
        quiet: true,
      }
    }
  return last
}
