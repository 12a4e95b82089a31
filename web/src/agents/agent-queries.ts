import { queryOptions } from '@tanstack/react-query'
import type { ToolResults } from '#wire'
import { joinStandings } from './trust-rows.ts'
import { call } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'

export type Agent = ToolResults['cowork_list_agents']['agents'][number]

export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: async () => (await call('cowork_list_agents')).agents,
})

export const standingsQuery = queryOptions({
  queryKey: ['standings'],
  queryFn: async () => {
    const [{ trust }, { standings }] = await Promise.all([
      call('cowork_status'),
      call('cowork_standing'),
    ])
    return joinStandings(trust, standings)
  },
})

/** The key prefix of all queries about an agent in a domain, so that they are invalidated together. */
export const pairQueryKey = (agent: string, domain: string) => ['pair', agent, domain] as const

export async function refreshTrust(agent: string, domain: string): Promise<void> {
  await queryClient.invalidateQueries(standingsQuery)
  await queryClient.invalidateQueries({ queryKey: pairQueryKey(agent, domain) })
}

export const classesQuery = (agent: string, domain: string) =>
  queryOptions({
    queryKey: [...pairQueryKey(agent, domain), 'classes'],
    queryFn: async () => {
      const asked = { agent_id: agent, domain }
      const { standings } = await call('cowork_standing', asked)
      return standings[0]?.classes ?? []
    },
  })

export const historyQuery = (agent: string, domain: string, days: number) =>
  queryOptions({
    queryKey: [...pairQueryKey(agent, domain), 'history', days],
    queryFn: () => call('cowork_trust_history', { agent_id: agent, domain, days }),
  })

export type Permission = ToolResults['cowork_list_permissions']['permissions'][number]

export const permissionsQuery = queryOptions({
  queryKey: ['permissions'],
  queryFn: async () => (await call('cowork_list_permissions')).permissions,
})

export const qualityQuery = (agent: string, domain: string, days: number) =>
  queryOptions({
    queryKey: [...pairQueryKey(agent, domain), 'quality', days],
    queryFn: () => {
      const start = new Date(Date.now() - days * 86_400_000).toISOString()
      return call('cowork_quality_metrics', { agent_id: agent, domain, start })
    },
  })
