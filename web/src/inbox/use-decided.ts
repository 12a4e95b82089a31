import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { get } from '../api/client.ts'
import { matches } from './filter.ts'
import type { InboxFilters } from './filter.ts'
import { newestFirst } from './row.ts'
import { isPending, useQueue } from './queue.ts'

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

/** What was decided: the daemon's pages as one scrolls, and among them what was decided since. */
export function useDecided(filters: InboxFilters) {
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
