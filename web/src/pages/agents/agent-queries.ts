import { queryOptions } from '@tanstack/react-query'
import type { History } from '../../agents/history.ts'
import type { Quality } from '../../agents/quality.ts'
import type { Standing } from '../../agents/standing.ts'
import { call } from '../../api.ts'

export const standingsQuery = queryOptions({
  queryKey: ['standings'],
  queryFn: async () => (await call<{ trust: readonly Standing[] }>('cowork_status')).trust,
})

/** Everything about one agent in one domain begins like this, so that all of it is read again at once. */
export const pairKey = (agent: string, domain: string) => ['pair', agent, domain] as const

export const historyQuery = (agent: string, domain: string, days: number) =>
  queryOptions({
    queryKey: [...pairKey(agent, domain), 'history', days],
    queryFn: () => call<History>('cowork_trust_history', { agent_id: agent, domain, days }),
  })

export type Permission = {
  readonly id: string
  readonly agent_id: string
  readonly tool: string
  readonly arguments: Readonly<Record<string, string>> | null
  readonly exact: readonly string[]
  readonly for: string
  readonly uses_left: number | null
  readonly session: string | null
  readonly expires_at: string | null
  readonly granted_by: string
  readonly granted_at: string
  readonly last_used_at: string | null
}

export const permissionsQuery = queryOptions({
  queryKey: ['permissions'],
  queryFn: async () =>
    (await call<{ permissions: readonly Permission[] }>('cowork_list_permissions')).permissions,
})

export const qualityQuery = (agent: string, domain: string, days: number) =>
  queryOptions({
    queryKey: [...pairKey(agent, domain), 'quality', days],
    queryFn: () => {
      const start = new Date(Date.now() - days * 86_400_000).toISOString()
      return call<Quality>('cowork_quality_metrics', { agent_id: agent, domain, start })
    },
  })
