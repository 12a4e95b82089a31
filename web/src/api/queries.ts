import { QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import type { ToolResults } from '#wire'
import { call, get } from './client.ts'
import { entryNoun } from './entry.ts'
import type { Entry } from './entry.ts'
import { live } from './live.ts'
import { session } from './session.ts'

export type Halt = ToolResults['cowork_status']['halts'][number]

export const meQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => get('/api/session', {}, signal),
})
export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: () => call('cowork_status'),
})

export const queryClient = new QueryClient({
  defaultOptions: {
    // The daemon is usually local, so the network state of the browser must not pause requests.
    queries: {
      networkMode: 'always',
      staleTime: Infinity,
      refetchOnWindowFocus: false,
      retry: false,
    },
    mutations: { networkMode: 'always', retry: false },
  },
})

export type EntryFollower = {
  /**
   * The query keys to invalidate by entry noun. A read through a tool writes a `call` entry, so following `call` would
   * loop.
   */
  readonly invalidates: Readonly<Record<string, readonly string[]>>
  readonly onEntries?: (entries: readonly Entry[]) => void
}

/** Updates the cache from the live stream and clears it when the person changes. */
export function startQueries(followers: readonly EntryFollower[]): void {
  live.onEntries((entries) => {
    const nouns = new Set(entries.map(entryNoun))
    const keys = new Set<string>()
    for (const { invalidates, onEntries } of followers) {
      onEntries?.(entries)
      for (const noun of nouns) for (const key of invalidates[noun] ?? []) keys.add(key)
    }
    for (const key of keys) void queryClient.invalidateQueries({ queryKey: [key] })
  })
  // Retries the queries that failed while the daemon was unreachable.
  const isBroken = ({ state }: { state: { status: string } }) => state.status === 'error'
  live.state.subscribe(() => {
    if (live.state.get() === 'live') void queryClient.refetchQueries({ predicate: isBroken })
  })
  let token = session.token()
  session.subscribe(() => {
    if (session.token() === token) return
    token = session.token()
    // Another person must not see the data of the previous one.
    if (token) void queryClient.resetQueries()
    else queryClient.clear()
  })
}

/** Returns the command that runs `cowork` on that machine, from the cache only: people without a session see this too. */
export const useCommand = (): readonly string[] | undefined =>
  useQuery({ ...meQuery, enabled: false }).data?.command
