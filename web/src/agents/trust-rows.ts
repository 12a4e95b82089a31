import type { ToolResults } from '#wire'
import { searchText } from '../shared/search-text.ts'

/** The classes say more than `by_risk`. */
type Status = Omit<ToolResults['cowork_status']['trust'][number], 'by_risk'>
type StandingForPeople = Pick<
  ToolResults['cowork_standing']['standings'][number],
  'agent_id' | 'domain' | 'thresholds' | 'classes'
>

/** How far an agent is trusted in a domain, and what it may do alone, as the API says it (G5). */
export type TrustStanding = Status & StandingForPeople

export function joined(
  statuses: readonly Status[],
  standings: readonly StandingForPeople[],
): TrustStanding[] {
  const known = new Map(standings.map((it) => [rowKey(it.agent_id, it.domain), it]))
  return statuses.flatMap((status) => {
    const more = known.get(rowKey(status.agent_id, status.domain))
    return more ? [{ ...status, ...more, trust_level: status.trust_level }] : []
  })
}

/** An agent in a domain, or one that has asked for nothing yet. */
export type AgentRow = {
  readonly key: string
  readonly agent: string
  readonly standing: TrustStanding | undefined
}

export const rowKey = (agent: string, domain: string): string => JSON.stringify([agent, domain])

export function buildRows(
  standings: readonly TrustStanding[],
  agents: readonly string[],
): AgentRow[] {
  const known = new Set(standings.map(({ agent_id: id }) => id))
  return [
    ...standings.map((standing) => ({
      key: rowKey(standing.agent_id, standing.domain),
      agent: standing.agent_id,
      standing,
    })),
    ...agents
      .filter((id) => !known.has(id))
      .map((agent) => ({ key: rowKey(agent, ''), agent, standing: undefined })),
  ]
}

export type Sort = 'agent' | 'trust' | 'overrides' | 'active'

export type AgentFilters = {
  readonly q?: string
  readonly view?: 'map'
  readonly sort?: Exclude<Sort, 'agent'>
  /** Of the agent that is open. */
  readonly domain?: string
  readonly days?: '90' | '365'
}

/** Reads the address; what it cannot mean is left out, so that no link leads to an error. */
export function parseAgentFilters(search: Record<string, unknown>): AgentFilters {
  const text = (name: string) => searchText(search, name)
  const [q, domain, sort, days] = [text('q'), text('domain'), text('sort'), text('days')]
  return {
    ...(q !== undefined && { q }),
    ...(search['view'] === 'map' && { view: 'map' }),
    ...((sort === 'trust' || sort === 'overrides' || sort === 'active') && { sort }),
    ...(domain !== undefined && { domain }),
    ...((days === '90' || days === '365') && { days }),
  }
}

export const listFilters = ({ q, view, sort }: AgentFilters): AgentFilters => ({
  ...(q !== undefined && { q }),
  ...(view && { view }),
  ...(sort && { sort }),
})

const name = ({ agent, standing }: AgentRow) => `${agent} ${standing?.domain ?? ''}`

/** What is to be looked at first: the least trusted, the most corrected, the latest at work. */
const order: Record<Sort, (standing: TrustStanding) => number> = {
  agent: () => 0,
  trust: ({ trust_level: trust }) => trust,
  overrides: ({ overrides }) => -overrides,
  active: ({ last_active_at: at }) => -Date.parse(at),
}

export function filterRows(rows: readonly AgentRow[], { q, sort }: AgentFilters): AgentRow[] {
  const words = q?.toLowerCase().split(/\s+/) ?? []
  const place = ({ standing }: AgentRow) => (standing ? order[sort ?? 'agent'](standing) : Infinity)
  return rows
    .filter((row) => words.every((word) => name(row).toLowerCase().includes(word)))
    .map((row) => ({ row, at: place(row) }))
    .toSorted((a, b) => (a.at === b.at ? 0 : a.at - b.at) || name(a.row).localeCompare(name(b.row)))
    .map(({ row }) => row)
}

/** The table as a map: agents downwards, domains across, nothing where nothing was asked for. */
export function buildHeatMap(standings: readonly TrustStanding[]) {
  const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted(byName)
  const cells = new Map(standings.map((it) => [rowKey(it.agent_id, it.domain), it]))
  return {
    agents: sorted(standings.map(({ agent_id: id }) => id)),
    domains: sorted(standings.map(({ domain }) => domain)),
    at: (agent: string, domain: string) => cells.get(rowKey(agent, domain)),
  }
}

const byName = (a: string, b: string) => a.localeCompare(b)
