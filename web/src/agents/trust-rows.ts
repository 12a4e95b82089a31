import type { ToolResults } from '#wire'
import { searchText } from '../shared/search-text.ts'

/** Omits `by_risk`, because the classes have more details. */
type Status = Omit<ToolResults['cowork_status']['trust'][number], 'by_risk'>
type StandingForPeople = Pick<
  ToolResults['cowork_standing']['standings'][number],
  'agent_id' | 'domain' | 'thresholds' | 'classes'
>

/** Trust and autonomy of an agent in a domain, as the API returns them (G5). */
export type TrustStanding = Status & StandingForPeople

export function joinStandings(
  statuses: readonly Status[],
  standings: readonly StandingForPeople[],
): TrustStanding[] {
  const known = new Map(standings.map((it) => [rowKey(it.agent_id, it.domain), it]))
  return statuses.flatMap((status) => {
    const more = known.get(rowKey(status.agent_id, status.domain))
    return more ? [{ ...status, ...more, trust_level: status.trust_level }] : []
  })
}

/** An agent in a domain, or an agent without activity. */
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
  /** The selected domain of the open agent. */
  readonly domain?: string
  readonly days?: '90' | '365'
}

/** Parses search parameters; invalid values are ignored, so that no link fails. */
export function parseAgentFilters(search: Record<string, unknown>): AgentFilters {
  const text = (searchableText: string) => searchText(search, searchableText)
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

/** Sort keys: lowest trust, most overrides or latest activity first. */
const sortKeys: Record<Sort, (standing: TrustStanding) => number> = {
  agent: () => 0,
  trust: ({ trust_level: trust }) => trust,
  overrides: ({ overrides }) => -overrides,
  active: ({ last_active_at: at }) => -Date.parse(at),
}

export function filterRows(rows: readonly AgentRow[], { q, sort }: AgentFilters): AgentRow[] {
  const words = q?.toLowerCase().split(/\s+/) ?? []
  const getSortKey = ({ standing }: AgentRow) =>
    standing ? sortKeys[sort ?? 'agent'](standing) : Infinity
  return rows
    .filter((row) => words.every((word) => name(row).toLowerCase().includes(word)))
    .map((row) => ({ row, at: getSortKey(row) }))
    .toSorted((a, b) => (a.at === b.at ? 0 : a.at - b.at) || name(a.row).localeCompare(name(b.row)))
    .map(({ row }) => row)
}

/** Returns the heat map: agents as rows, domains as columns. */
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
