import { queryOptions } from '@tanstack/react-query'
import { get } from '../api/client.ts'
import type { Detail, Item } from './approval.ts'
import { entryNoun } from '../api/entry.ts'
import { useRefetch } from '../api/use-entries.ts'

export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ['approval', id],
    // The API schema does not describe the fields of an access request.
    queryFn: async ({ signal }) => (await get('/api/approvals/{id}', { id }, signal)) as Detail,
    gcTime: 60_000,
  })

/** Reads all rows of a look-back, including answered ones. */
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

/** Refreshes the open item when an entry names it or may change trust in its domain. */
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
