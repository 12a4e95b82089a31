import type { Entry } from '../api/entry.ts'
import { toDayKey } from '../shared/time.ts'

type DayRow = { readonly kind: 'day'; readonly key: string; readonly at: number }
export type ReadsRun = {
  readonly kind: 'reads'
  readonly key: string
  /** The newest entry. */
  readonly first: Entry
  readonly entries: readonly Entry[]
  readonly isOpen: boolean
}
export type EntryLine = {
  readonly kind: 'entry'
  readonly key: string
  readonly entry: Entry
  /** A call entry next to the entry of its effect. */
  readonly isEcho: boolean
}
export type Row = DayRow | ReadsRun | EntryLine

export const rowKey = ({ seq }: Pick<Entry, 'seq'>): string => `entry ${seq}`

type TimelineOptions = {
  /** Groups consecutive reads of one actor. */
  readonly groupsReads: boolean
  readonly open: ReadonlySet<string>
  readonly selected: number | undefined
}

/** Builds rows of entries, newest first, with a row for each day. */
export function buildTimelineRows(
  entries: readonly Entry[],
  { groupsReads, open, selected }: TimelineOptions,
): Row[] {
  const rows: Row[] = []
  let day = ''
  for (let at = 0; at < entries.length;) {
    const entry = entries[at]
    if (!entry) break
    const dayKey = toDayKey(entry.at)
    if (dayKey !== day) rows.push({ kind: 'day', key: dayKey, at: entry.at })
    day = dayKey
    const run = groupsReads ? findReadRun(entries, at) : []
    if (run.length > 1) {
      // Groups grow at the top, so the oldest entry is their key.
      const key = `reads ${run.at(-1)?.seq}`
      const isOpen = open.has(key) || run.some(({ seq }) => seq === selected)
      rows.push({ kind: 'reads', key, first: entry, entries: run, isOpen })
      if (isOpen)
        rows.push(
          ...run.map((one): Row => ({ kind: 'entry', key: rowKey(one), entry: one, isEcho: true })),
        )
      at += run.length
    } else {
      const isEcho =
        isRead(entry) || isEchoOf(entry, entries[at - 1]) || isEchoOf(entry, entries[at + 1])
      rows.push({ kind: 'entry', key: rowKey(entry), entry, isEcho })
      at += 1
    }
  }
  return rows
}

const isRead = ({ type, data }: Entry) => type === 'call.done' && data?.['effect'] === 'read'

function findReadRun(entries: readonly Entry[], start: number): readonly Entry[] {
  const first = entries[start]
  let end = start
  for (
    let next = first;
    next && first && isRead(next) && isSameGroup(next, first);
    next = entries[end]
  )
    end++
  return entries.slice(start, end)
}

const isSameGroup = (a: Entry, b: Entry) =>
  a.actor.id === b.actor.id && a.actor.kind === b.actor.kind && toDayKey(a.at) === toDayKey(b.at)

const isCall = ({ type }: Entry) => type.startsWith('call.')

const isEchoOf = (entry: Entry, beside: Entry | undefined) =>
  beside !== undefined &&
  isCall(entry) &&
  !isCall(beside) &&
  entry.ids?.['call'] !== undefined &&
  entry.ids['call'] === beside.ids?.['call']

export type Sizes = { readonly day: number; readonly entry: number }

export const rowHeight = (row: Row | undefined, sizes: Sizes): number =>
  row?.kind === 'day' ? sizes.day : sizes.entry

export function rowTime(row: Row): number {
  if (row.kind === 'day') return row.at
  return row.kind === 'reads' ? row.first.at : row.entry.at
}

type Layout = { readonly rows: readonly Row[]; readonly sizes: Sizes }

/** Returns the scroll position that keeps the row at `top` in place. Row heights are fixed. */
export function timelineScrollTop(before: Layout, after: Layout, top: number): number {
  const offsets = new Map<string, number>()
  let offset = 0
  for (const row of after.rows) {
    offsets.set(row.key, offset)
    offset += rowHeight(row, after.sizes)
  }
  offset = 0
  for (const row of before.rows) {
    const height = rowHeight(row, before.sizes)
    const place = offsets.get(row.key)
    if (offset + height > top && place !== undefined && row.kind !== 'day')
      return place + top - offset
    offset += height
  }
  return top
}
