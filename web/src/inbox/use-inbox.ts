import { useQuery, infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { countByKind, matches } from './filter.ts'
import type { InboxFilters } from './filter.ts'
import type { Counts, Item } from './approval.ts'
import { newestFirst, buildInboxRows } from './row.ts'
import type { Row } from './row.ts'
import { nextPageQuery, useQueue, isPending } from './queue.ts'
import { usePendingItems } from './use-pending-items.ts'
import { get } from '../api/client.ts'

export type Inbox = {
  readonly rows: readonly Row[]
  readonly counts: Counts
  readonly snoozedCount: number
  readonly status: 'pending' | 'success' | 'error'
  readonly error: unknown
  readonly retry: () => void
  /** Loads the next page, if there may be one. */
  readonly more: (() => void) | undefined
}

type InboxOptions = {
  readonly filters: InboxFilters
  readonly current: string | undefined
  readonly open: ReadonlySet<string>
}

/** Returns the rows for the filters: pending, snoozed or decided items. */
export function useInbox({ filters, current, open }: InboxOptions): Inbox {
  const { items, counts, next, isComplete, status, error, refetch } = useQueue()
  const { pendingItems, snoozedItems } = usePendingItems()
  const decided = useDecidedItems(filters)
  useQuery(nextPageQuery(next))

  const { view } = filters
  const listed = useMemo(() => {
    if (view === 'decided') return decided.items
    const pending = view === 'snoozed' ? snoozedItems : pendingItems
    const matching = pending.filter((item) => matches(item, filters))
    // The open item stays in the list after a decision.
    const openItem = current === undefined ? undefined : items.get(current)
    if (openItem && !view && openItem.status !== 'pending' && matches(openItem, filters))
      matching.push(openItem)
    return newestFirst(matching)
  }, [view, decided.items, snoozedItems, pendingItems, filters, items, current])

  const groupsChecks = view !== 'decided'
  const groupsSimilar = groupsChecks && filters.q === undefined
  const rows = useMemo(
    () => buildInboxRows(listed, { groupsChecks, groupsSimilar, open, current }),
    [listed, groupsChecks, groupsSimilar, open, current],
  )
  const pendingCounts = useMemo(
    () => (isComplete ? countByKind(pendingItems) : counts),
    [isComplete, pendingItems, counts],
  )

  const common = { rows, counts: pendingCounts, snoozedCount: snoozedItems.length }
  if (view !== 'decided')
    return { ...common, status, error, retry: () => void refetch(), more: undefined }
  return {
    ...common,
    status: decided.status,
    error: decided.error,
    retry: () => void decided.refetch(),
    more:
      decided.hasNextPage && !decided.isFetchingNextPage
        ? () => void decided.fetchNextPage()
        : undefined,
  }
}

export const listItems = (rows: readonly Row[]): Item[] =>
  rows.flatMap((row) => (row.kind !== 'item' ? row.items : row.isMember ? [] : [row.item]))

const pageSize = 200

const decidedQuery = ({ kind, q }: InboxFilters) =>
  infiniteQueryOptions({
    queryKey: ['approvals', 'decided', kind, q],
    queryFn: ({ pageParam: after, signal }) =>
      get('/api/approvals', { status: 'decided', kind, q, after, limit: pageSize }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    gcTime: 60_000,
  })

/** Returns decided items: the loaded pages, merged with later decisions. */
function useDecidedItems(filters: InboxFilters) {
  const query = useInfiniteQuery({ ...decidedQuery(filters), enabled: filters.view === 'decided' })
  const { items: known } = useQueue()
  const items = useMemo(() => {
    const paged = query.data?.pages.flatMap((page) => page.items) ?? []
    const ids = new Set(paged.map(({ id }) => id))
    const since = [...known.values()].filter(
      (item) => !isPending(item) && !ids.has(item.id) && matches(item, filters),
    )
    return newestFirst([...since, ...paged.map((item) => known.get(item.id) ?? item)])
  }, [query.data, known, filters])
  return { ...query, items }
}
