import { expect, test } from 'vitest'
import type { Entry } from '../api/entry.ts'
import { entry } from '../api/entry.fixture.ts'
import { rowHeight, buildTimelineRows, timelineScrollTop } from './row.ts'

const sizes = { day: 10, entry: 20 }
const noon = new Date(2026, 10, 15, 12).getTime()
const day = 86_400_000
const read = (seq: number, part: Partial<Entry> = {}) =>
  entry({ seq, at: noon, data: { tool: 't', effect: 'read' }, ...part })
const write = (seq: number, part: Partial<Entry> = {}) =>
  entry({ seq, at: noon, type: 'agent.added', ...part })
const folded = { groupsReads: true, open: new Set<string>(), selected: undefined }
const keys = (entries: readonly Entry[], folding = folded) =>
  buildTimelineRows(entries, folding).map(({ key }) => key)

test('C8 entries are grouped by local day', () => {
  expect(keys([write(3), write(2), write(1, { at: noon - day })])).toEqual([
    '2026-11-15',
    'entry 3',
    'entry 2',
    '2026-11-14',
    'entry 1',
  ])
})

test('C8 consecutive reads of one actor are grouped until expanded or selected', () => {
  const other = { kind: 'human', id: 'sales' } as const
  const entries = [
    read(6),
    read(5),
    write(4),
    read(3),
    read(2, { actor: other }),
    read(1, { actor: other }),
  ]
  const closed = ['2026-11-15', 'reads 5', 'entry 4', 'entry 3', 'reads 1']
  expect(keys(entries)).toEqual(closed)
  const opened = closed.toSpliced(2, 0, 'entry 6', 'entry 5')
  expect(keys(entries, { ...folded, open: new Set(['reads 5']) })).toEqual(opened)
  expect(buildTimelineRows(entries, { ...folded, selected: 6 }).map(({ key }) => key)).toEqual(
    opened,
  )
  expect(keys(entries, { ...folded, groupsReads: false })).toHaveLength(7)
})

test('C8 a growing group keeps its key', () => {
  expect(keys([read(2), read(1)])).toContain('reads 1')
  expect(keys([read(3), read(2), read(1)])).toContain('reads 1')
})

test('C8 a call next to its effect is an echo', () => {
  const ids = { call: 'c' }
  const rows = buildTimelineRows(
    [entry({ seq: 3, ids }), write(2, { ids }), entry({ seq: 1, ids: { call: 'd' } })],
    folded,
  )
  expect(rows.flatMap((row) => (row.kind === 'entry' ? [row.isEcho] : []))).toEqual([
    true,
    false,
    false,
  ])
})

test('C8 a list that grows above keeps the visible rows in place', () => {
  const place = (entries: readonly Entry[], key: string, given = sizes) => {
    let offset = 0
    for (const row of buildTimelineRows(entries, folded)) {
      if (row.key === key) return offset
      offset += rowHeight(row, given)
    }
    throw new Error(`no row ${key}`)
  }
  const before = [write(4), read(3), write(2), write(1, { at: noon - day })]
  const after = [read(8), read(7), write(6), write(5, { at: noon }), ...before]
  const top = place(before, 'entry 2') + 7
  const laid = (entries: readonly Entry[], given = sizes) => ({
    rows: buildTimelineRows(entries, folded),
    sizes: given,
  })
  expect(timelineScrollTop(laid(before), laid(after), top)).toBe(place(after, 'entry 2') + 7)
  expect(timelineScrollTop(laid(before), laid(before), top)).toBe(top)
  const taller = { day: 10, entry: 35 }
  expect(timelineScrollTop(laid(before), laid(before, taller), top)).toBe(
    place(before, 'entry 2', taller) + 7,
  )
  expect(timelineScrollTop(laid([]), laid(after), 5)).toBe(5)
})
