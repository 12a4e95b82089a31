import { Link } from '@tanstack/react-router'
import { buildHeatMap } from './trust-rows.ts'
import type { AgentFilters, TrustStanding } from './trust-rows.ts'
import { levelLabels, formatScore } from '../inbox/text.ts'
import { Icon } from '../shared/Icon.tsx'
import { Meter } from '../shared/Meter.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { HorizontalScroll } from '../shared/HorizontalScroll.tsx'
import { sanitizeText } from '../shared/sanitize.ts'

const backgrounds = {
  act: 'bg-act-bg text-act',
  suggest: 'bg-suggest-bg text-suggest',
  escalate: 'bg-escalate-bg text-escalate',
}

type Props = { standings: readonly TrustStanding[]; filters: AgentFilters }

/** Trust by agent and domain, as color, icon and number. */
export function HeatMap({ standings, filters }: Props) {
  const { agents, domains, at } = buildHeatMap(standings)
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3 pt-3">
      <HorizontalScroll label="Trust by agent and domain" className="min-h-0 px-4 pb-4">
        <table className="border-separate border-spacing-1">
          <caption className="sr-only">Trust of each agent in each domain</caption>
          <thead>
            <tr>
              <th className="sticky left-0 bg-bg" aria-label="Agent" />
              {domains.map((domain) => (
                <th
                  key={domain}
                  scope="col"
                  title={sanitizeText(domain)}
                  className="max-w-32 min-w-26 truncate px-1 pb-1 text-left font-mono text-xs font-normal text-soft"
                >
                  <SafeText text={domain} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {agents.map((agent) => (
              <tr key={agent}>
                <th
                  scope="row"
                  title={sanitizeText(agent)}
                  className="sticky left-0 max-w-45 truncate bg-bg pr-3 text-left font-[550] max-md:max-w-25"
                >
                  <SafeText text={agent} />
                </th>
                {domains.map((domain) => (
                  <Cell key={domain} standing={at(agent, domain)} filters={filters} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </HorizontalScroll>
      <Legend />
    </div>
  )
}

type CellProps = { standing: TrustStanding | undefined; filters: AgentFilters }

function Cell({ standing: it, filters }: CellProps) {
  if (!it)
    return (
      <td className="h-11 rounded-sm bg-raised/60 text-center text-faint">
        <span aria-hidden>·</span>
        <span className="sr-only">no activity</span>
      </td>
    )
  return (
    <td className="h-11 p-0">
      <Link
        to="/agents/$agent"
        params={{ agent: it.agent_id }}
        search={{ ...filters, domain: it.domain }}
        aria-label={sanitizeText(
          `${it.agent_id} in ${it.domain}: ${levelLabels[it.mode]} ${formatScore(it.trust_level)}`,
        )}
        className={`grid h-11 content-center gap-1 rounded-sm px-2 hover:brightness-95 ${backgrounds[it.mode]}`}
      >
        <span className="flex items-center gap-1 text-xs leading-4 font-[550]">
          <Icon name={it.mode} size={12} />
          {formatScore(it.trust_level)}
        </span>
        <Meter value={it.trust_level} tone={it.mode} className="h-1 w-full" />
      </Link>
    </td>
  )
}

const legend = [
  ['act', 'Autonomous: acts without approval'],
  ['suggest', 'Supervised: needs approval'],
  ['escalate', 'Probation: needs urgent approval'],
] as const

const Legend = () => (
  <ul
    aria-label="Legend"
    className="mt-auto flex flex-wrap gap-x-5 gap-y-1 border-t border-line px-4 py-2.5 text-xs text-soft"
  >
    {legend.map(([mode, says]) => (
      <li key={mode} className="flex items-center gap-1.5">
        <Icon
          name={mode}
          size={12}
          className={`grid size-4.5 place-items-center rounded-sm ${backgrounds[mode]}`}
        />
        {says}
      </li>
    ))}
    <li className="flex items-center gap-1.5">
      <span
        aria-hidden
        className="grid size-4.5 place-items-center rounded-sm bg-raised text-faint"
      >
        ·
      </span>
      No activity
    </li>
  </ul>
)
