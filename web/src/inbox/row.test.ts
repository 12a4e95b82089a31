import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { item } from './approval.fixture.ts'
import {
  hasId,
  idsBetween,
  rowIds,
  findTargetId,
  newestFirst,
  nextRemaining,
  buildInboxRows,
  anchoredScrollTop,
} from './row.ts'
import type { Row } from './row.ts'

const closed = {
  groupsChecks: true,
  groupsSimilar: true,
  open: new Set<string>(),
  current: undefined,
}
const at = (minute: number) => `2026-11-15T12:${String(minute).padStart(2, '0')}:00.000Z`
const lot = (groups: readonly string[]) =>
  groups.map((group, n) => item({ id: `p-${n}`, group, created_at: at(59 - n) }))
const shown = (rows: readonly Row[]) =>
  rows.map((row) =>
    row.kind === 'item'
      ? row.item.id
      : `${row.items.length} ${row.kind === 'group' ? 'similar' : 'checks'}`,
  )

const opened = (row: Row | undefined) => row && findTargetId(row)

test('C2 similar items are grouped at the position of the newest', () => {
  const items = lot(['a', 'tickets', 'b', 'tickets', 'tickets'])
  expect(shown(buildInboxRows(items, closed))).toEqual(['p-0', '3 similar', 'p-2'])
})

test('C2 two items and items without a group are not grouped', () => {
  expect(shown(buildInboxRows(lot(['a', 'a', '', '', '']), closed))).toHaveLength(5)
})

test('C2 a group expands on request and for the open item', () => {
  const items = lot(['a', 'a', 'a'])
  const all = ['3 similar', 'p-0', 'p-1', 'p-2']
  expect(shown(buildInboxRows(items, closed))).toEqual(['3 similar'])
  expect(shown(buildInboxRows(items, { ...closed, open: new Set(['group a']) }))).toEqual(all)
  expect(shown(buildInboxRows(items, { ...closed, current: 'p-1' }))).toEqual(all)
  expect(shown(buildInboxRows(items, { ...closed, groupsSimilar: false }))).toEqual([
    'p-0',
    'p-1',
    'p-2',
  ])
})

test('C2 every item is in the rows once, however grouped', () => {
  const groups = fc.array(fc.constantFrom('', 'a', 'b', 'c'), { maxLength: 40 })
  fc.assert(
    fc.property(groups, (names) => {
      const rows = buildInboxRows(lot(names), closed)
      expect(rows.flatMap(rowIds).toSorted()).toEqual(names.map((_, n) => `p-${n}`).toSorted())
    }),
  )
})

test('C2 the newest items come first, and equal times have a stable order', () => {
  const items = ['b', 'a', 'c'].map((id) => item({ id }))
  const late = item({ id: 'late', created_at: at(30) })
  expect(newestFirst([...items, late]).map(({ id }) => id)).toEqual(['late', 'c', 'b', 'a'])
})

test('C2 shift selects the range in either direction', () => {
  const rows = buildInboxRows(lot(['x', 'a', 'a', 'a', 'y']), closed)
  const [first = '', , last = ''] = rows.map(({ key }) => key)
  expect(idsBetween(rows, first, last)).toEqual(['p-0', 'p-1', 'p-2', 'p-3', 'p-4'])
  expect(idsBetween(rows, last, first)).toEqual(idsBetween(rows, first, last))
  expect(idsBetween(rows, first, 'gone')).toEqual([])
})

test('C2 the visible row stays in place when rows are added or removed', () => {
  const height = 87
  const names = fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 20 })
  const rows = (ids: readonly number[]) =>
    buildInboxRows(
      ids.map((n) => item({ id: String(n) })),
      { ...closed, groupsSimilar: false },
    )
  fc.assert(
    fc.property(names, names, fc.nat(20 * height), (old, now, top) => {
      const before = rows(old)
      const after = rows(now)
      const seen = before
        .slice(Math.floor(top / height))
        .find(({ key }) => after.some((row) => row.key === key))
      const moved = anchoredScrollTop(before, after, { top, height })
      const place = (list: readonly Row[]) =>
        list.findIndex(({ key }) => key === seen?.key) * height
      expect(moved).toBe(seen ? Math.max(0, place(after) - (place(before) - top)) : top)
    }),
  )
})

test('C2 after a decision the next or the previous item follows', () => {
  const rows = buildInboxRows(lot(['', '', '', '']), closed)
  const next = (...gone: string[]) => opened(nextRemaining(rows, new Set(gone)))
  expect(next('p-1')).toBe('p-2')
  expect(next('p-1', 'p-2')).toBe('p-3')
  expect(next('p-3')).toBe('p-2')
  expect(next('p-0', 'p-1', 'p-2', 'p-3')).toBeUndefined()
})

test('C2 T14 the checks of one agent or look-back are one row without bulk decisions', () => {
  const kinds = ['spot_check', 'proposal', 'spot_check', 'spot_check', 'spot_check']
  const groups = ['sales', 'x', 'sales', 'look-back', 'sales']
  const items = lot(groups).map((one, n) => ({ ...one, kind: kinds[n] ?? '' }))
  const rows = buildInboxRows(items, closed)
  expect(shown(rows)).toEqual(['3 checks', 'p-1', '1 checks'])
  expect(shown(buildInboxRows(items, { ...closed, groupsSimilar: false }))).toEqual(shown(rows))
  expect(
    shown(buildInboxRows(items, { ...closed, groupsChecks: false, groupsSimilar: false })),
  ).toHaveLength(5)
  const [checks, proposal, back] = rows
  expect(checks && rowIds(checks)).toEqual(['p-0', 'p-2', 'p-4'])
  // The oldest that waits is read first, and the item stays open whichever of its rows is.
  expect(opened(checks)).toBe('p-4')
  expect(checks && hasId(checks, 'p-2')).toBe(true)
  expect(idsBetween(rows, checks?.key ?? '', back?.key ?? '')).toEqual(['p-1'])
  expect(nextRemaining(rows, new Set(['p-1']))).toBe(back)
  expect(nextRemaining(rows, new Set(['p-0', 'p-2', 'p-4']))).toBe(proposal)
})
