import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import type { InfiniteData } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { get } from '../api/client.ts'
import type { Entry } from '../api/entry.ts'
import { isFiltered, toQuery } from './filter.ts'
import type { Filters } from './filter.ts'
import { live } from '../api/live.ts'
import { queryClient } from '../api/queries.ts'

/** Newest first. `newest` is the last entry that was looked at, whether it passed the filter or not. */
type Page = {
  readonly entries: readonly Entry[]
  readonly newest: number
  readonly isLast: boolean
}
type Pages = InfiniteData<Page, number | undefined>

const pageSize = 200
/** Older entries beyond this number are discarded and loaded again on scroll. */
const maxEntries = 10_000
const debounceMs = 250

async function fetchPage(
  filters: Filters,
  before: number | undefined,
  signal: AbortSignal,
): Promise<Page> {
  const query = { ...toQuery(filters), before, limit: pageSize, newest: true }
  const { entries, size } = await get('/api/ledger', query, signal)
  return { entries: entries.toReversed(), newest: size, isLast: entries.length < pageSize }
}

const timelineQuery = (filters: Filters) =>
  infiniteQueryOptions({
    queryKey: ['ledger', filters],
    queryFn: ({ pageParam, signal }) => fetchPage(filters, pageParam, signal),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => (page.isLast ? undefined : page.entries.at(-1)?.seq),
    gcTime: 60_000,
  })

/** Returns the ledger, newest first: live entries are added at the top, older pages on scroll. */
export function useTimeline(filters: Filters) {
  const query = useInfiniteQuery(timelineQuery(filters))
  useEffect(() => {
    const { queryKey } = timelineQuery(filters)
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined

    const add = (fresh: readonly Entry[], newest: number) =>
      queryClient.setQueryData<Pages>(
        queryKey,
        (data) => data && prependEntries(data, fresh, newest),
      )
    const newest = () => queryClient.getQueryData<Pages>(queryKey)?.pages[0]?.newest

    /** Fetches new entries that match the filters, which only the daemon can evaluate. */
    async function catchUp() {
      timer = undefined
      const after = newest()
      if (after === undefined || after >= (live.last() ?? 0)) return
      const query = { ...toQuery(filters), after, limit: 1000 }
      const { entries, size } = await get('/api/ledger', query, stop.signal)
      const isWhole = entries.length < 1000
      add(entries, isWhole ? size : (entries.at(-1)?.seq ?? size))
      if (!isWhole) scheduleCatchUp()
    }
    const scheduleCatchUp = () => {
      timer ??= setTimeout(() => catchUp().catch(() => undefined), debounceMs)
    }

    const unsubscribe = live.onEntries((entries) => {
      const known = newest()
      const isNext = known !== undefined && entries[0]?.seq === known + 1
      if (isNext && !isFiltered(filters)) add(entries, entries.at(-1)?.seq ?? known)
      else scheduleCatchUp()
    })
    // Fetches entries written since the first page.
    if (newest() !== undefined) scheduleCatchUp()
    return () => {
      unsubscribe()
      stop.abort()
      clearTimeout(timer)
    }
  }, [filters, query.isSuccess])

  const entries = useMemo(
    () => query.data?.pages.flatMap((page) => page.entries) ?? [],
    [query.data],
  )
  return { ...query, entries }
}

function prependEntries(data: Pages, fresh: readonly Entry[], newest: number): Pages {
  const [first, ...rest] = data.pages
  if (!first || newest <= first.newest) return data
  const unseen = fresh.filter(({ seq }) => seq > first.newest).toReversed()
  const top = { ...first, entries: [...unseen, ...first.entries], newest }
  const truncated =
    top.entries.length > maxEntries
      ? { ...top, entries: top.entries.slice(0, maxEntries), isLast: false }
      : top
  const isTruncated = truncated !== top
  return {
    pages: isTruncated ? [truncated] : [truncated, ...rest],
    pageParams: isTruncated ? data.pageParams.slice(0, 1) : data.pageParams,
  }
}
