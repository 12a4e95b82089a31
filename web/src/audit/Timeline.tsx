import { Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react'
import { isFiltered } from './filter.ts'
import type { Filters } from './filter.ts'
import { appearance } from '../shared/appearance.ts'
import { buttonClass } from '../shared/Button.tsx'
import { NewPill } from '../shared/ListParts.tsx'
import { QueryState, EmptyState } from '../shared/States.tsx'
import { formatDay } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { useOpenKeys } from '../shared/use-open-keys.ts'
import { EntryRow, ReadGroupRow } from './EntryRow.tsx'
import { rowHeight, buildTimelineRows, rowTime } from './row.ts'
import type { Row } from './row.ts'
import { useListKeys, useSelection, useScrollAnchor } from './use-list.ts'
import { useTimeline } from './use-timeline.ts'

const heights = {
  calm: { wide: { day: 32, entry: 40 }, narrow: { day: 32, entry: 62 } },
  compact: { wide: { day: 28, entry: 32 }, narrow: { day: 28, entry: 54 } },
}
/** The minimum width for entries on one line. */
const minWideWidth = 700
const dayClass =
  'flex h-full items-center border-b border-line px-4 text-xs font-semibold text-faint'

type Props = { filters: Filters; selected: number | undefined }

/** A virtual list of the ledger, newest first. */
export function Timeline({ filters, selected }: Props) {
  const timeline = useTimeline(filters)
  const { entries, hasNextPage, isFetchingNextPage, fetchNextPage } = timeline
  const { open, toggle } = useOpenKeys()
  const groupsReads = !isSpecificSearch(filters)
  const rows = useMemo(
    () => buildTimelineRows(entries, { groupsReads, open, selected }),
    [entries, groupsReads, open, selected],
  )
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null)
  const isWide = useWidth(scroller) >= minWideWidth
  const { density } = useSyncExternalStore(appearance.subscribe, appearance.get)
  const sizes = heights[density][isWide ? 'wide' : 'narrow']

  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller,
    estimateSize: (at) => rowHeight(rows[at], sizes),
    getItemKey: (at) => rows[at]?.key ?? at,
    overscan: 12,
    // Rows scrolled into view must not hide under the sticky day.
    scrollPaddingStart: sizes.day,
  })
  useLayoutEffect(() => list.measure(), [list, sizes])
  const { unseen, toTop } = useScrollAnchor(scroller, { entries, rows, sizes })
  useListKeys({ rows, list, selected, toTop })
  useSelection(selected, rows, sizes, list)

  const shown = list.getVirtualItems()
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= rows.length - 40
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [isNearEnd, hasNextPage, isFetchingNextPage, fetchNextPage])

  const now = useNow()
  const [mountedAt] = useState(Date.now)
  const first = rows[list.getVirtualItemForOffset(list.scrollOffset ?? 0)?.index ?? 0]
  if (!timeline.isSuccess) return <QueryState query={timeline} what="entries" rows={12} />
  if (!first) return <Nothing isFiltered={isFiltered(filters)} />

  const content = (row: Row) => {
    if (row.kind === 'day') return <h2 className={dayClass}>{formatDay(row.at, now)}</h2>
    if (row.kind === 'reads')
      return <ReadGroupRow run={row} isWide={isWide} onToggle={() => toggle(row.key)} />
    return (
      <EntryRow
        row={row}
        isNew={row.entry.at > mountedAt}
        isWide={isWide}
        isSelected={row.entry.seq === selected}
        filters={filters}
      />
    )
  }
  return (
    <div className="relative min-h-0 flex-1">
      <NewPill count={unseen} onPress={toTop} className="top-10" />
      <div
        ref={setScroller}
        className="scroll-thin h-full scroll-pt-8 overflow-y-auto [overflow-anchor:none]"
      >
        <p
          aria-hidden
          className={`sticky top-0 z-[1] bg-bg ${dayClass}`}
          style={{ height: sizes.day, marginBottom: -sizes.day }}
        >
          {formatDay(rowTime(first), now)}
        </p>
        <ol
          aria-label="Entries, newest first"
          className="relative"
          style={{ height: list.getTotalSize() }}
        >
          {shown.map(({ index, start, size }) => {
            const row = rows[index]
            const place = { height: size, transform: `translateY(${start}px)` }
            return (
              row && (
                <li key={row.key} className="absolute inset-x-0 top-0" style={place}>
                  {content(row)}
                </li>
              )
            )
          })}
        </ol>
        {isFetchingNextPage && <End>Loading older entries…</End>}
        {!hasNextPage && <End>{isFiltered(filters) ? 'No more entries' : 'First entry'}</End>}
      </div>
    </div>
  )
}

const End = ({ children }: { children: string }) => (
  <p className="py-4 text-center text-xs text-faint">{children}</p>
)

/** A specific search shows every entry, without grouping reads. */
const isSpecificSearch = ({ q, type, outcome, call, proposal }: Filters) =>
  [q, type, outcome, call, proposal].some((filter) => filter !== undefined)

function useWidth(element: HTMLElement | null): number {
  const subscribe = useCallback(
    (changed: () => void) => {
      const watch = new ResizeObserver(changed)
      if (element) watch.observe(element)
      return () => watch.disconnect()
    },
    [element],
  )
  return useSyncExternalStore(subscribe, () => element?.clientWidth ?? 0)
}

const Nothing = ({ isFiltered: hasFilters }: { isFiltered: boolean }) =>
  hasFilters ? (
    <EmptyState icon="filter" title="No matches">
      <p>Remove a filter or widen the date range.</p>
      <Link to="/audit" search={{}} className={buttonClass()}>
        Clear filters
      </Link>
    </EmptyState>
  ) : (
    <EmptyState icon="audit" title="No entries">
      <p>Calls, decisions and changes appear here.</p>
      <Link to="/settings/$section" params={{ section: 'agents' }} className={buttonClass()}>
        Connect an agent
      </Link>
    </EmptyState>
  )
