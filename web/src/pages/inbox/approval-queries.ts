import { queryOptions } from '@tanstack/react-query'
import { get } from '../../api.ts'
import type { Detail } from '../../inbox/approval.ts'

export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ['approval', id],
    queryFn: ({ signal }) => get<Detail>(`/api/approvals/${encodeURIComponent(id)}`, {}, signal),
    gcTime: 60_000,
  })
