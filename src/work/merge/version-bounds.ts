import type { Change, ItemKind, WorkIndex } from '../model.ts'
import { parseStoryNumber } from '../rules.ts'
import { flatten, itemKey } from './flat.ts'
import type { FlatItem } from './flat.ts'
import { isEqualValue, isSameField, canonicalKey } from './lists.ts'

/** The merge base of a text includes the change `since` and precedes the change `before`. */
export type VersionBounds = { readonly since: number; readonly before: number }

/**
 * Infers bounds of the merge base from a text. A text based on a change has values that only this
 * change wrote: the time of an item, the next story number, the time of an entry or the id of a
 * conflict. A missing value proves nothing, because it may have been deleted. Neither does an old
 * value, because people restore values; but they do not restore the time of an item, so an old time
 * proves that the change came later.
 */
export function inferVersionBounds(
  now: WorkIndex,
  newestFirst: readonly Change[],
  theirs: WorkIndex,
): VersionBounds {
  const getEvidence = createEvidenceCheck(now, theirs)
  let before = Infinity
  for (const change of newestFirst) {
    const found = change.quiet ? undefined : getEvidence(change)
    if (found === 'has') return { since: change.seq, before }
    if (found === 'lacks') before = change.seq
  }
  return { since: 0, before }
}

type Evidence = 'has' | 'lacks' | undefined

function createEvidenceCheck(now: WorkIndex, theirs: WorkIndex) {
  const items = new Map(flatten(now).items)
  const text = flatten(theirs).items
  const entries = new Set(theirs.history.map(canonicalKey))
  const current = new Set(now.history.map(canonicalKey))
  const conflicts = new Set(theirs.conflicts.map(({ id }) => id))
  /** Items whose state in the text is explained; earlier changes of them prove nothing. */
  const explained = new Set<string>()
  const { next_story: textNextStory } = theirs
  let next = now.next_story ?? 0

  /**
   * Infers from the next story number, which people do not edit, whether the text has the change
   * that added a story.
   */
  function checkStoryNumber({ kind, id, op, external }: Change, isThere: boolean): Evidence {
    const number = kind === 'story' && op === 'add' ? parseStoryNumber(id) : 0
    if (number === 0 || number !== next - 1) return undefined
    next = number
    if (external || textNextStory === undefined) return undefined
    if (textNextStory <= number) return 'lacks'
    return isThere ? undefined : 'has'
  }

  function checkItem(
    change: Change,
    after: FlatItem | undefined,
    textItem: FlatItem | undefined,
  ): Evidence {
    const { kind, id, op, fields, fromSprint, external } = change
    const key = itemKey(kind as ItemKind, id)
    if (!after || !textItem || explained.has(key)) return undefined
    const [time, at] = [textItem.item['updated'], fields['updated']]
    if (at) {
      if (isEqualValue(time, at.to)) {
        explained.add(key)
        return external || time === undefined ? undefined : 'has'
      }
      return !external && op !== 'add' && isEqualValue(time, at.from) ? 'lacks' : undefined
    }
    if (external || op === 'add' || !isEqualValue(time, after.item['updated'])) return undefined
    const changed = Object.entries(fields)
    if (changed.some(([field, { to }]) => isSameField(field, textItem.item[field], to)))
      explained.add(key)
    const isBefore =
      changed.every(([field, { from }]) => isSameField(field, textItem.item[field], from)) &&
      (op === 'move' ? textItem.sprint === fromSprint : changed.length > 0)
    return isBefore ? 'lacks' : undefined
  }

  function checkEntry({ kind, id, fields, external }: Change): Evidence {
    const { from, to } = fields['entry'] ?? {}
    if (kind === 'conflict') {
      if (!conflicts.has(id) || (from !== undefined && to !== undefined)) return undefined
      return to === undefined ? (external ? undefined : 'lacks') : 'has'
    }
    if (external) return undefined
    if (from !== undefined)
      return entries.has(canonicalKey(from)) && !current.has(canonicalKey(from))
        ? 'lacks'
        : undefined
    const isDated = typeof to === 'object' && to !== null && 'at' in to
    return isDated && entries.has(canonicalKey(to)) ? 'has' : undefined
  }

  return function sign(change: Change): Evidence {
    const { kind, id } = change
    if (!isItem(kind)) return checkEntry(change)
    const key = itemKey(kind, id)
    const [after, own] = [items.get(key), text.get(key)]
    const before = revertChange(after, change)
    if (before) items.set(key, before)
    else items.delete(key)
    return checkStoryNumber(change, own !== undefined) ?? checkItem(change, after, own)
  }
}

export const isItem = (kind: Change['kind']): kind is ItemKind =>
  kind === 'sprint' || kind === 'story' || kind === 'backlog'

/** Returns the item before a change. */
export function revertChange(item: FlatItem | undefined, change: Change): FlatItem | undefined {
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
