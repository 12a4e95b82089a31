import { useQuery, infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { countByKind, matches } from './filter.ts'
import type { InboxFilters } from './filter.ts'
import type { Counts, Item } from './approval.ts'
import { newestFirst, rowsOf } from './row.ts'
import type { Row } from './row.ts'
import { nextPageQuery, useQueue, isPending } from './queue.ts'
import { usePendingItems } from './use-pending-items.ts'
import { get } from '../api/client.ts'

export type Inbox = {
  readonly rows: readonly Row[]
  readonly counts: Counts
  readonly asleep: number
  readonly status: 'pending' | 'success' | 'error'
  readonly error: unknown
  readonly retry: () => void
  /** Loads the next page, if there may be one. */
  readonly more: (() => void) | undefined
}

type Shown = {
  readonly filters: InboxFilters
  readonly current: string | undefined
  readonly open: ReadonlySet<string>
}

/** Returns the rows for the filters: pending, snoozed or decided items. */
export function useInbox({ filters, current, open }: Shown): Inbox {
  const { items, counts, next, isWhole, status, error, refetch } = useQueue()
  const { waiting, asleep } = usePendingItems()
  const decided = useDecidedItems(filters)
  useQuery(nextPageQuery(next))

  const { view } = filters
  const shown = useMemo(() => {
    if (view === 'decided') return decided.items
    const pending = view === 'snoozed' ? asleep : waiting
    const found = pending.filter((item) => matches(item, filters))
    // The open item stays in the list after a decision.
    const read = current === undefined ? undefined : items.get(current)
    if (read && !view && read.status !== 'pending' && matches(read, filters)) found.push(read)
    return newestFirst(found)
  }, [view, decided.items, asleep, waiting, filters, items, current])

  const gathers = view !== 'decided'
  const folds = gathers && filters.q === undefined
  const rows = useMemo(
    () => rowsOf(shown, { gathers, folds, open, current }),
    [shown, gathers, folds, open, current],
  )
  const pendingCounts = useMemo(
    () => (isWhole ? countByKind(waiting) : counts),
    [isWhole, waiting, counts],
  )

  const common = { rows, counts: pendingCounts, asleep: asleep.length }
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
