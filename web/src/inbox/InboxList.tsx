import { Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react'
import { hasFilters } from './filter.ts'
import type { InboxFilters } from './filter.ts'
import { hasId, rowIds } from './row.ts'
import { appearance } from '../shared/appearance.ts'
import { buttonClass } from '../shared/Button.tsx'
import { NewPill } from '../shared/ListParts.tsx'
import { EmptyState, Loading, ErrorState } from '../shared/States.tsx'
import { ChecksLine, GroupListRow, InboxRow } from './Row.tsx'
import { useCursor } from './use-cursor.ts'
import type { Inbox } from './use-inbox.ts'
import type { Selection } from './use-selection.ts'
import { useInboxScrollAnchor } from './use-inbox-scroll-anchor.ts'

const heights = { calm: 87, compact: 67 }

const names = {
  pending: 'Pending, newest first',
  decided: 'Decided, newest first',
  snoozed: 'Snoozed, newest first',
}

type Props = {
  inbox: Inbox
  filters: InboxFilters
  current: string | undefined
  picked: ReadonlySet<string>
  picks: Selection
  onToggleGroup: (key: string) => void
}

/** A virtual list, for 10,000 rows (C12). */
export function InboxList({ inbox, filters, current, picked, picks, onToggleGroup }: Props) {
  const { rows, more } = inbox
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null)
  const [since] = useState(Date.now)
  const { density } = useSyncExternalStore(appearance.subscribe, appearance.get)
  const height = heights[density]
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller,
    estimateSize: () => height,
    getItemKey: (at) => rows[at]?.key ?? at,
    overscan: 8,
  })
  useLayoutEffect(() => list.measure(), [list, height])
  const name = names[filters.view ?? 'pending']
  const { unseen, spacer, toTop } = useInboxScrollAnchor(scroller, {
    rows,
    height,
    name: `${name} ${filters.kind} ${filters.q}`,
    isReading: current !== undefined,
  })
  useCursor({ rows, list, current, picks, toTop })

  const shown = list.getVirtualItems()
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= rows.length - 40
  useEffect(() => {
    if (isNearEnd) more?.()
  }, [isNearEnd, more])

  if (inbox.status === 'pending') return <Loading what="the inbox" rows={8} />
  if (inbox.status === 'error') return <ErrorState error={inbox.error} retry={inbox.retry} />
  if (rows.length === 0) return <EmptyList filters={filters} snoozedCount={inbox.snoozedCount} />
  return (
    <div className="relative min-h-0 flex-1">
      <NewPill count={unseen} onPress={toTop} className="top-2" />
      <div ref={setScroller} className="scroll-thin h-full overflow-y-auto [overflow-anchor:none]">
        <ol aria-label={name} className="relative" style={{ height: list.getTotalSize() }}>
          {shown.map(({ index, start, size }) => {
            const row = rows[index]
            if (!row) return null
            const place = { height: size, transform: `translateY(${start}px)` }
            const common = {
              isPicked: rowIds(row).every((id) => picked.has(id)),
              hasPicks: picked.size > 0,
              picks: filters.view === 'decided' ? undefined : picks,
            }
            return (
              <li
                key={row.key}
                aria-setsize={rows.length}
                aria-posinset={index + 1}
                className="absolute inset-x-0 top-0"
                style={place}
              >
                {row.kind === 'group' ? (
                  <GroupListRow {...common} row={row} onToggle={() => onToggleGroup(row.key)} />
                ) : row.kind === 'checks' ? (
                  <ChecksLine
                    row={row}
                    isCurrent={current !== undefined && hasId(row, current)}
                    filters={filters}
                  />
                ) : (
                  <InboxRow
                    {...common}
                    row={row}
                    since={since}
                    isCurrent={row.item.id === current}
                    filters={filters}
                  />
                )}
              </li>
            )
          })}
        </ol>
        <div ref={spacer} aria-hidden />
      </div>
    </div>
  )
}

function EmptyList({ filters, snoozedCount }: { filters: InboxFilters; snoozedCount: number }) {
  const { view } = filters
  if (hasFilters(filters))
    return (
      <EmptyState icon="filter" title="No matches">
        <p>Remove a filter or shorten the search.</p>
        <Link to="/inbox" search={view ? { view } : {}} className={buttonClass()}>
          Clear filters
        </Link>
      </EmptyState>
    )
  if (view === 'decided')
    return (
      <EmptyState icon="decision" title="No decisions">
        <p>Approved and rejected items appear here.</p>
      </EmptyState>
    )
  if (view === 'snoozed')
    return (
      <EmptyState icon="clock" title="No snoozed items">
        <p>Press S to snooze an item. It returns automatically.</p>
      </EmptyState>
    )
  return (
    <EmptyState icon="inbox" title="Inbox is empty">
      <p>
        {snoozedCount > 0
          ? `${snoozedCount} snoozed. Snoozed items return automatically.`
          : 'Requests that need approval appear here.'}
      </p>
    </EmptyState>
  )
}
