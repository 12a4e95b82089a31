import { useQuery } from '@tanstack/react-query'
import { nextModeDrop, parsePoint } from './trust-history.ts'
import type { TrustHistory } from './trust-history.ts'
import type { AgentFilters, TrustStanding } from './trust-rows.ts'
import { formatScore } from '../inbox/text.ts'
import { AsTable } from '../shared/HorizontalScroll.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Section } from '../shared/Section.tsx'
import { QueryContent } from '../shared/States.tsx'
import { ViewSwitch } from '../shared/ViewSwitch.tsx'
import { fullTime } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { historyQuery } from './agent-queries.ts'
import { HistoryChart } from './HistoryChart.tsx'

const periods = [undefined, '90', '365'] as const
export const periodDays = ({ days }: AgentFilters): number => Number(days ?? 30)

type Props = { standing: TrustStanding; filters: AgentFilters }

/** Trust over time, with the projected decay. */
export function TrustHistory({ standing, filters }: Props) {
  const now = useNow()
  const days = periodDays(filters)
  const { agent_id: agent, domain } = standing
  const query = useQuery(historyQuery(agent, domain, days))
  return (
    <Section title={`Trust, last ${days} days`} aside={<Periods filters={filters} />}>
      <QueryContent query={query} what="trust over time" rows={4}>
        {(data) => (
          <>
            <HistoryChart history={data} days={days} now={now} />
            <p className="text-xs text-soft">{nextModeDrop(data, now)}</p>
            <Numbers history={data} />
          </>
        )}
      </QueryContent>
    </Section>
  )
}

function Periods({ filters }: { filters: AgentFilters }) {
  const { days: chosen, ...others } = filters
  return (
    <ViewSwitch
      label="Period"
      views={periods.map((days) => ({
        name: `${days ?? '30'} days`,
        isOn: chosen === days,
        search: { ...others, ...(days && { days }) },
      }))}
      replace
    />
  )
}

const Numbers = ({ history: { points, projection } }: { history: TrustHistory }) => (
  <AsTable
    label="Trust over time as a table"
    heads={['When', 'Trust', 'Event']}
    className="max-h-60"
  >
    {projection
      .filter((_, ahead) => ahead > 0 && ahead % 5 === 0)
      .toReversed()
      .map(({ at, score: value }) => (
        <tr key={at} className="text-soft">
          <td className="whitespace-nowrap">{fullTime(Date.parse(at))}</td>
          <td>{formatScore(value)}</td>
          <td>if idle</td>
        </tr>
      ))}
    {points.toReversed().map(({ at, score: value, ...point }, index) => (
      // Two decisions can have the same time, and points never change their order.
      // oxlint-disable-next-line react/no-array-index-key
      <tr key={`${at} ${index}`}>
        <td className="whitespace-nowrap">{fullTime(Date.parse(at))}</td>
        <td>{formatScore(value)}</td>
        <SafeText
          as="td"
          text={point.cause === 'before' ? 'Before this period' : parsePoint(point).says}
        />
      </tr>
    ))}
  </AsTable>
)
