import { queryOptions } from '@tanstack/react-query'
import { get } from '../api/client.ts'
import type { Detail, Item } from './approval.ts'
import { entryNoun } from '../api/entry.ts'
import { useRefetch } from '../api/use-entries.ts'

export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ['approval', id],
    // The wire leaves open what a request for access says.
    queryFn: async ({ signal }) => (await get('/api/approvals/{id}', { id }, signal)) as Detail,
    gcTime: 60_000,
  })

/** All rows of a look-back, those that were answered before too: the newest checks of an agent have them. */
export const lookBackQuery = ({ requester, look_back: lookBack }: Item) =>
  queryOptions({
    queryKey: ['approvals', 'look-back', requester, lookBack],
    queryFn: async ({ signal }) => {
      const query = { status: 'all', kind: 'spot_check', agent: requester, limit: 1000 }
      const { items } = await get('/api/approvals', query, signal)
      return items.filter((item) => item.look_back === lookBack)
    },
    gcTime: 60_000,
  })

const nouns = new Set(['proposal', 'approval', 'override', 'trust', 'permission', 'handoff'])

/** Reads the open item again when the ledger names it, or when trust in that domain may have moved. */
export function useRefreshItem(id: string, item: Item | undefined): void {
  useRefetch(
    (entry) =>
      entry.ids?.['approval'] === id ||
      entry.type.startsWith('policy.') ||
      (item !== undefined && entry.domain === item.domain && nouns.has(entryNoun(entry))),
    approvalQuery(id),
    0,
  )
}
