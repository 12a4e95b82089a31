import { queryOptions } from '@tanstack/react-query'
import type { History } from './history.ts'
import type { Quality } from './quality.ts'
import { joined } from './standing.ts'
import type { StandingForPeople, Status } from './standing.ts'
import { call } from '../api/client.ts'

export type Agent = {
  readonly id: string
  readonly source: 'config' | 'store' | 'environment'
  readonly status: 'active' | 'revoked'
  readonly scopes: readonly string[]
  readonly tools?: readonly string[]
  readonly exclude?: readonly string[]
  readonly read_only?: boolean
  readonly created_at?: string
  readonly last_seen_at?: string
  readonly credentials: readonly { readonly hash_prefix: string; readonly expires_at?: string }[]
}

export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: async () => (await call<{ agents: readonly Agent[] }>('cowork_list_agents')).agents,
})

type Standings = { readonly standings: readonly StandingForPeople[] }

export const standingsQuery = queryOptions({
  queryKey: ['standings'],
  queryFn: async () => {
    const [{ trust }, { standings }] = await Promise.all([
      call<{ trust: readonly Status[] }>('cowork_status'),
      call<Standings>('cowork_standing'),
    ])
    return joined(trust, standings)
  },
})

/** Everything about one agent in one domain begins like this, so that all of it is read again at once. */
export const pairKey = (agent: string, domain: string) => ['pair', agent, domain] as const

/** What one agent may do alone in one domain, by class of risk. */
export const classesQuery = (agent: string, domain: string) =>
  queryOptions({
    queryKey: [...pairKey(agent, domain), 'classes'],
    queryFn: async () => {
      const asked = { agent_id: agent, domain }
      const { standings } = await call<Standings>('cowork_standing', asked)
      return standings[0]?.classes ?? []
    },
  })

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
