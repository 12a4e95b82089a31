import { isCheck } from './approval.ts'
import type { Item } from './approval.ts'

export type ItemRow = {
  readonly kind: 'item'
  readonly key: string
  readonly item: Item
  /** A member of an expanded group. */
  readonly isMember: boolean
}
export type GroupRow = {
  readonly kind: 'group'
  readonly key: string
  /** Newest first. */
  readonly items: readonly [Item, ...Item[]]
  readonly isOpen: boolean
}
/** The checks of one agent or look-back as one row; each check is answered separately (T14). */
export type ChecksRow = {
  readonly kind: 'checks'
  readonly key: string
  /** Newest first. */
  readonly items: readonly [Item, ...Item[]]
}
export type Row = ItemRow | GroupRow | ChecksRow

const rowKey = (id: string): string => `item ${id}`
export const checksKey = (group: string): string => `checks ${group}`

const compare = (a: string, b: string) => (a < b ? 1 : a > b ? -1 : 0)

/** Sorts the times as text: the API uses one format, and text comparison is ten times as fast. */
export const newestFirst = (items: Iterable<Item>): Item[] =>
  [...items].toSorted((a, b) => compare(a.created_at, b.created_at) || compare(a.id, b.id))

type RowOptions = {
  /** Combines the checks of each agent and look-back. */
  readonly groupsChecks: boolean
  /** Combines similar items. */
  readonly groupsSimilar: boolean
  readonly open: ReadonlySet<string>
  /** The open item; its group is expanded. */
  readonly current: string | undefined
}

/** Two rows are faster to read than a group of two. */
const minGroupSize = 3

/** Builds the rows. A group is at the position of its newest item. */
export function buildInboxRows(items: readonly Item[], folding: RowOptions): Row[] {
  const { groupsChecks, groupsSimilar, open, current } = folding
  const isGroupedCheck = (item: Item) => groupsChecks && isCheck(item) && item.group !== ''
  const groups = Map.groupBy(
    items.filter((item) => groupsSimilar || isGroupedCheck(item)),
    ({ group, id }) => group || id,
  )
  const rows: Row[] = []
  const done = new Set<string>()
  for (const item of items) {
    const members = groups.get(item.group) ?? []
    const [first, ...rest] = members
    if (first && isGroupedCheck(item)) {
      const key = checksKey(item.group)
      if (!done.has(key)) rows.push({ kind: 'checks', key, items: [first, ...rest] })
      done.add(key)
    } else if (!first || members.length < minGroupSize) rows.push(toItemRow(item, false))
    else if (!done.has(item.group)) {
      done.add(item.group)
      const key = `group ${item.group}`
      const isOpen = open.has(key) || members.some(({ id }) => id === current)
      rows.push({ kind: 'group', key, items: [first, ...rest], isOpen })
      if (isOpen) rows.push(...members.map((one) => toItemRow(one, true)))
    }
  }
  return rows
}

const toItemRow = (item: Item, isMember: boolean): ItemRow => ({
  kind: 'item',
  key: rowKey(item.id),
  item,
  isMember,
})

export const rowIds = (row: Row): string[] =>
  row.kind === 'item' ? [row.item.id] : row.items.map(({ id }) => id)

/** Returns the ids that bulk actions can select. Checks are answered separately. */
export const listSelectableIds = (row: Row): string[] => (row.kind === 'checks' ? [] : rowIds(row))

/** Returns the item that a row opens; a group opens none. */
export function findTargetId(row: Row): string | undefined {
  if (row.kind === 'group') return undefined
  if (row.kind === 'item') return row.item.id
  return (row.items.findLast(({ status }) => status === 'pending') ?? row.items[0]).id
}

export const hasId = (row: Row, id: string): boolean =>
  row.kind !== 'group' && rowIds(row).includes(id)

export function idsBetween(rows: readonly Row[], from: string, to: string): string[] {
  const ends = [from, to].map((key) => rows.findIndex((row) => row.key === key))
  const [a = -1, b = -1] = ends
  if (a === -1 || b === -1) return []
  return rows.slice(Math.min(a, b), Math.max(a, b) + 1).flatMap(listSelectableIds)
}

/** Returns the scroll position that keeps the row at `top` in place. All rows have the same height. */
export function anchoredScrollTop(
  before: readonly Row[],
  after: readonly Row[],
  { top, height }: { top: number; height: number },
): number {
  const positions = new Map(after.map(({ key }, at) => [key, at]))
  const first = Math.max(0, Math.floor(top / height))
  for (let at = first; at < before.length; at++) {
    const position = positions.get(before[at]?.key ?? '')
    if (position !== undefined) return Math.max(0, position * height + top - at * height)
  }
  return top
}

/** Returns the row to open after these rows are removed: the next remaining one, or the previous one. */
export function nextRemaining(
  rows: readonly Row[],
  removed: ReadonlySet<string>,
): ItemRow | ChecksRow | undefined {
  const isRemoved = (row: Row) => rowIds(row).every((id) => removed.has(id))
  const isRemaining = (row: Row): row is ItemRow | ChecksRow =>
    row.kind !== 'group' && !isRemoved(row)
  const last = rows.findLastIndex(isRemoved)
  return (
    rows.slice(last + 1).find(isRemaining) ?? rows.slice(0, Math.max(last, 0)).findLast(isRemaining)
  )
}
