import { queryOptions } from '@tanstack/react-query'
import { call, get } from '../api/client.ts'

export const policiesQuery = queryOptions({
  queryKey: ['policies', 'listed'],
  queryFn: () => call('cowork_list_policies'),
})

export const versionsQuery = queryOptions({
  queryKey: ['policies', 'versions'],
  queryFn: () => call('cowork_policy_versions', { limit: 200 }),
})

/** The text of a version never changes. */
export const textQuery = (version: string) =>
  queryOptions({
    queryKey: ['policy-text', version],
    queryFn: async () => (await call('cowork_policy_versions', { version })).text ?? '',
  })

export const diffQuery = (from: string, to: string) =>
  queryOptions({
    queryKey: ['policy-diff', from, to],
    queryFn: () => call('cowork_policy_diff', { from, to }),
  })

/** Recent proposals for the simulation, newest first. */
export const recentQuery = queryOptions({
  queryKey: ['recent-proposals'],
  queryFn: async ({ signal }) => {
    const query = { kind: 'proposal', status: 'all', limit: 20 }
    return (await get('/api/approvals', query, signal)).items
  },
  staleTime: 0,
})
