import { queryOptions } from '@tanstack/react-query'
import { call, get } from '../../api.ts'
import type { Detail } from '../../inbox/approval.ts'

export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ['approval', id],
    queryFn: ({ signal }) => get<Detail>(`/api/approvals/${encodeURIComponent(id)}`, {}, signal),
    gcTime: 60_000,
  })

export type Policy = { readonly id: string; readonly description: string; readonly rules: number }

export const policiesQuery = queryOptions({
  queryKey: ['policies'],
  queryFn: async () =>
    (await call<{ policies: readonly Policy[] }>('cowork_list_policies')).policies,
})
