import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { listFilters, buildRows, filterRows } from './trust-rows.ts'
import type { AgentFilters, AgentRow, TrustStanding } from './trust-rows.ts'
import { isCheck } from '../inbox/approval.ts'
import { onArrival } from '../inbox/queue.ts'
import { useKeys } from '../shared/use-keys.ts'
import { buttonClass } from '../shared/Button.tsx'
import { SearchBox } from '../shared/FindBox.tsx'
import { QueryState, EmptyState, Hint, joinQueries } from '../shared/States.tsx'
import { ViewSwitch } from '../shared/ViewSwitch.tsx'
import { agentsQuery, standingsQuery } from './agent-queries.ts'
import { queryClient } from '../api/queries.ts'
import { entryNoun } from '../api/entry.ts'
import { useRefetch } from '../api/use-entries.ts'
import { AgentDetail } from './AgentDetail.tsx'
import { AgentsTable } from './AgentsTable.tsx'
import { HeatMap } from './HeatMap.tsx'
import { useRowKeys } from './use-row-keys.ts'

const route = getRouteApi('/agents')
const nouns = new Set(['proposal', 'approval', 'override', 'trust', 'handoff', 'look_back'])

export function AgentsPage() {
  const filters = route.useSearch()
  const { agent } = useParams({ strict: false })
  const navigate = useNavigate()
  const standings = useQuery(standingsQuery)
  const agents = useQuery(agentsQuery)
  useRefetch((entry) => nouns.has(entryNoun(entry)), standingsQuery)
  // A new check writes no entry; the queue reports it.
  useEffect(
    () =>
      onArrival((items) => {
        if (items.some(isCheck)) void queryClient.invalidateQueries(standingsQuery)
      }),
    [],
  )
  const known = standings.data
  const registered = agents.data
  const rows = useMemo(() => {
    const active = registered?.filter(({ status }) => status === 'active') ?? []
    return buildRows(
      known ?? [],
      active.map(({ id }) => id),
    )
  }, [known, registered])
  const shown = useMemo(() => filterRows(rows, filters), [rows, filters])
  const domain = selectDomain(rows, agent, filters.domain)
  useRowKeys({ rows: filters.view === 'map' ? [] : shown, filters, open: agent, domain })
  useKeys(
    agent === undefined
      ? {}
      : { Escape: () => void navigate({ to: '/agents', search: listFilters(filters) }) },
  )
  return (
    <div className="flex h-full">
      <section
        aria-label="Agents"
        className={`@container flex min-w-0 flex-col ${
          agent === undefined
            ? 'flex-1'
            : 'w-[38%] min-w-80 shrink-0 border-r border-line max-md:hidden'
        }`}
      >
        <Bar filters={filters} />
        {known && registered ? (
          <Body filters={filters} standings={known} shown={shown} open={agent} domain={domain} />
        ) : (
          <QueryState query={joinQueries(standings, agents)} what="trust" rows={8} />
        )}
      </section>
      {agent !== undefined && (
        <AgentDetail
          key={agent}
          agent={agent}
          filters={filters}
          mine={known?.filter(({ agent_id: id }) => id === agent)}
          standing={known?.find((it) => it.agent_id === agent && it.domain === domain)}
        />
      )}
    </div>
  )
}

/** Returns the domain in the URL, or the first domain if it is missing or unknown. */
function selectDomain(
  rows: readonly AgentRow[],
  agent: string | undefined,
  asked: string | undefined,
) {
  const domains = rows.flatMap((row) =>
    row.agent === agent && row.standing ? [row.standing.domain] : [],
  )
  return domains.includes(asked ?? '') ? asked : domains.toSorted()[0]
}

type BodyProps = {
  filters: AgentFilters
  standings: readonly TrustStanding[]
  shown: readonly AgentRow[]
  open: string | undefined
  domain: string | undefined
}

function Body({ filters, standings, shown, open, domain }: BodyProps) {
  if (shown.length === 0) return filters.q === undefined ? <NoAgents /> : <NoMatch />
  if (filters.view === 'map') {
    const found = new Set(shown.flatMap(({ standing }) => standing ?? []))
    return <HeatMap standings={standings.filter((it) => found.has(it))} filters={filters} />
  }
  return <AgentsTable rows={shown} filters={filters} open={open} domain={domain} />
}

const NoAgents = () => (
  <EmptyState icon="agent" title="No agents connected">
    <Hint
      as="p"
      text="Run `cowork connect claude-code` to connect one. Approvals build its trust in each domain."
    />
    <Link to="/settings/$section" params={{ section: 'agents' }} className={buttonClass()}>
      Add agent
    </Link>
  </EmptyState>
)

const NoMatch = () => (
  <EmptyState icon="search" title="No matches">
    <Link to="/agents" className={buttonClass()}>
      Show all
    </Link>
  </EmptyState>
)

function Bar({ filters }: { filters: AgentFilters }) {
  const navigate = useNavigate()
  const { q: _, ...unsearched } = filters
  const { view, ...others } = filters
  const find = (q: string) =>
    void navigate({ to: '.', search: { ...unsearched, ...(q !== '' && { q }) }, replace: true })
  return (
    <div className="flex items-center gap-2 border-b border-line px-4 py-2.5">
      <span className="flex min-w-0 flex-1 @3xl:max-w-70">
        <SearchBox what="agents" text={filters.q} onFind={find} />
      </span>
      <ViewSwitch
        label="Views"
        className="ml-auto"
        views={[
          { name: 'Table', isOn: view === undefined, search: others },
          { name: 'Map', isOn: view === 'map', search: { ...others, view: 'map' } },
        ]}
      />
    </div>
  )
}
