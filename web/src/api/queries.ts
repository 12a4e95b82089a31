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
    // The daemon is on this machine, or says itself that it is away: a lost network pauses nothing.
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
   * The first words of the query keys that an entry of this noun makes stale. A read by tool is itself an entry, so
   * nothing here may follow `call`.
   */
  readonly invalidates: Readonly<Record<string, readonly string[]>>
  readonly onEntries?: (entries: readonly Entry[]) => void
}

/** Updates the cache from the stream, and clears it when the person changes. */
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
  // What could not be read while the daemon was away.
  const isBroken = ({ state }: { state: { status: string } }) => state.status === 'error'
  live.state.subscribe(() => {
    if (live.state.get() === 'live') void queryClient.refetchQueries({ predicate: isBroken })
  })
  let token = session.token()
  session.subscribe(() => {
    if (session.token() === token) return
    token = session.token()
    // A tab that goes on as another person shows nothing of the one before.
    if (token) void queryClient.resetQueries()
    else queryClient.clear()
  })
}

/** The words that run `cowork` there, once they are known. They are not asked for: also those see this who may not. */
export const useCommand = (): readonly string[] | undefined =>
  useQuery({ ...meQuery, enabled: false }).data?.command
