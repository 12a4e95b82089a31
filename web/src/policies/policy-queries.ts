import { queryOptions } from '@tanstack/react-query'
import { call, get } from '../api/client.ts'
import type { Item, ItemPage } from '../inbox/approval.ts'
import type { Listed, Version } from './policy.ts'

/** The policies in force, and who works under which. */
export const policiesQuery = queryOptions({
  queryKey: ['policies', 'listed'],
  queryFn: () => call<Listed>('cowork_list_policies'),
})

export type Versions = { readonly active: string; readonly versions: readonly Version[] }

export const versionsQuery = queryOptions({
  queryKey: ['policies', 'versions'],
  queryFn: () => call<Versions>('cowork_policy_versions', { limit: 200 }),
})

/** What a version says never changes. */
export const textQuery = (version: string) =>
  queryOptions({
    queryKey: ['policy-text', version],
    queryFn: async () => (await call<{ text: string }>('cowork_policy_versions', { version })).text,
  })

export type Diff = { readonly changed: boolean; readonly diff: string }

export const diffQuery = (from: string, to: string) =>
  queryOptions({
    queryKey: ['policy-diff', from, to],
    queryFn: () => call<Diff>('cowork_policy_diff', { from, to }),
  })

/** Proposals to try rules on, newest first. */
export const recentQuery = queryOptions({
  queryKey: ['recent-proposals'],
  queryFn: async ({ signal }): Promise<readonly Item[]> => {
    const query = { kind: 'proposal', status: 'all', limit: 20 }
    return (await get<ItemPage>('/api/approvals', query, signal)).items
  },
  staleTime: 0,
})
