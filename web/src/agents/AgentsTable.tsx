import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatChecks, formatCredit, modeOfLevel, riskLabels } from './class-standing.ts'
import type { AgentFilters, AgentRow, Sort, TrustStanding } from './trust-rows.ts'
import { formatAge, levelLabels, formatScore } from '../inbox/text.ts'
import { Ago } from '../shared/Ago.tsx'
import { Chip, LevelChip } from '../shared/Chips.tsx'
import { Icon } from '../shared/Icon.tsx'
import { Meter } from '../shared/Meter.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { statusQuery } from '../api/queries.ts'
import { CreditBar } from './Classes.tsx'

type Props = {
  rows: readonly AgentRow[]
  filters: AgentFilters
  open: string | undefined
  domain: string | undefined
}

/** Hides columns in a narrow table; the detail shows their values. */
const columnClasses = {
  domain: 'hidden @2xl:table-cell',
  reviews: 'hidden @3xl:table-cell',
  credit: 'hidden @4xl:table-cell',
  why: 'hidden @6xl:table-cell',
  active: 'hidden @2xl:table-cell',
  streak: 'hidden @7xl:table-cell',
}

export function AgentsTable({ rows, filters, open, domain }: Props) {
  const halts = useQuery(statusQuery).data?.halts ?? []
  const haltedScopes = new Set(halts.map(({ scope }) => scope))
  return (
    <div className="scroll-thin relative min-h-0 flex-1 overflow-auto">
      <table className="w-full border-collapse text-left">
        <caption className="sr-only">Trust of each agent by domain</caption>
        <thead className="sticky top-0 z-[1] bg-bg text-xs text-faint">
          <tr className="[&>th]:h-8 [&>th]:border-b [&>th]:border-line [&>th]:px-2 [&>th]:font-semibold [&>th]:whitespace-nowrap [&>th:first-child]:pl-4 [&>th:last-child]:pr-4">
            <SortHead filters={filters} sort="agent">
              Agent
            </SortHead>
            <th className={columnClasses.domain}>Domain</th>
            <SortHead filters={filters} sort="trust">
              Trust
            </SortHead>
            <th>Level</th>
            <th className={columnClasses.why}>Reason and next step</th>
            <th className={columnClasses.credit}>Credit: low · normal · high</th>
            <SortHead filters={filters} sort="overrides" className={columnClasses.reviews}>
              Approved · overridden
            </SortHead>
            <th className={columnClasses.streak}>Consecutive overrides</th>
            <SortHead filters={filters} sort="active" className={columnClasses.active}>
              Last active
            </SortHead>
            <th className={columnClasses.streak}>Decay</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={row.key}
              row={row}
              filters={filters}
              isOpen={row.agent === open && row.standing?.domain === domain}
              isHalted={haltedScopes.has(`agent:${row.agent}`)}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

type HeadProps = { filters: AgentFilters; sort: Sort; className?: string; children: ReactNode }

const directions = {
  agent: 'ascending',
  trust: 'ascending',
  overrides: 'descending',
  active: 'descending',
} as const

function SortHead({ filters, sort, className = '', children }: HeadProps) {
  const { sort: chosen = 'agent', ...others } = filters
  const isOn = chosen === sort
  return (
    <th aria-sort={isOn ? directions[sort] : undefined} className={className}>
      <Link
        to="."
        search={{ ...others, ...(sort !== 'agent' && { sort }) }}
        replace
        aria-current={undefined}
        className={`inline-flex items-center gap-0.5 whitespace-nowrap hover:text-text ${isOn ? 'text-text' : ''}`}
      >
        {children}
        {isOn && (
          <Icon
            name="down"
            size={12}
            className={directions[sort] === 'ascending' ? 'rotate-180' : ''}
          />
        )}
      </Link>
    </th>
  )
}

type RowProps = { row: AgentRow; filters: AgentFilters; isOpen: boolean; isHalted: boolean }

function Row({ row, filters, isOpen, isHalted }: RowProps) {
  const { agent, standing } = row
  const ground = isOpen
    ? 'bg-accent-bg [&>td:first-child]:shadow-[inset_2px_0_var(--accent)]'
    : 'hover:bg-raised'
  return (
    <tr
      className={`relative h-12 in-data-[density=compact]:h-9 [&>td]:border-b [&>td]:border-line [&>td]:px-2 [&>td:first-child]:pl-4 [&>td:last-child]:pr-4 ${ground}`}
    >
      <td className="w-[45%] max-w-0 @2xl:w-auto @2xl:max-w-60">
        <span className="flex min-w-0 items-center gap-2">
          <Link
            to="/agents/$agent"
            params={{ agent }}
            search={{ ...filters, ...(standing ? { domain: standing.domain } : {}) }}
            data-row={row.key}
            className="min-w-0 font-[550] -outline-offset-2 after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
          >
            <SafeText as="span" className="block truncate" text={agent} />
            <span className="block truncate font-normal text-soft @2xl:hidden">
              {standing ? <SafeText text={standing.domain} /> : 'no activity'}
            </span>
          </Link>
          {isHalted && (
            <Chip tone="escalate" icon="halt">
              Halted
            </Chip>
          )}
        </span>
      </td>
      {standing ? (
        <Cells standing={standing} />
      ) : (
        <>
          <td className={`${columnClasses.domain} text-faint`}>No activity</td>
          <td colSpan={8} aria-hidden />
        </>
      )}
    </tr>
  )
}

function Cells({ standing: it }: { standing: TrustStanding }) {
  return (
    <>
      <SafeText
        as="td"
        className={`${columnClasses.domain} max-w-50 truncate font-mono text-code`}
        text={it.domain}
      />
      <td>
        <span className="flex items-center gap-2">
          <b>{formatScore(it.trust_level)}</b>
          <Meter value={it.trust_level} tone={it.mode} className="w-16 max-md:hidden" />
        </span>
      </td>
      <td className="whitespace-nowrap">
        <LevelChip mode={it.mode} />
      </td>
      <td className={`${columnClasses.why} w-full max-w-0 truncate text-soft`}>
        <Reason standing={it} />
      </td>
      <td className={columnClasses.credit}>
        <Credits standing={it} />
      </td>
      <td className={`${columnClasses.reviews} whitespace-nowrap`}>
        {it.approvals} · {it.overrides}
      </td>
      <td className={`${columnClasses.streak} whitespace-nowrap`}>
        {it.consecutive_overrides > 0 ? (
          <span className="text-suggest">
            {it.consecutive_overrides === 1
              ? '1 override'
              : `${it.consecutive_overrides} overrides`}
          </span>
        ) : (
          <span className="text-faint">–</span>
        )}
      </td>
      <td className={`${columnClasses.active} whitespace-nowrap text-soft`}>
        <Ago at={it.last_active_at} format={formatAge} />
      </td>
      <td className={`${columnClasses.streak} whitespace-nowrap text-soft`}>
        {it.decay_days === 0 ? (
          <span className="text-faint">–</span>
        ) : (
          `${it.decay_days} idle ${it.decay_days === 1 ? 'day' : 'days'}`
        )}
      </td>
    </>
  )
}

function Reason({ standing: { classes } }: { standing: TrustStanding }) {
  const normal = classes.find(({ risk }) => risk === 'normal')
  if (!normal) return null
  const { reason, next } = normal
  const says = next === undefined ? reason : `${reason} · ${next}`
  return <SafeText as="span" title={sanitizeText(says)} text={says} />
}

const Credits = ({ standing: { classes } }: { standing: TrustStanding }) => (
  <span className="flex items-center gap-3">
    {classes.map((it) => (
      <span
        key={it.risk}
        title={`${riskLabels[it.risk]}: ${levelLabels[modeOfLevel[it.level]]}, ${formatCredit(it.credit)}`}
        className={`grid w-9 gap-0.5 ${it.level === 'autonomous' ? '' : 'text-faint'}`}
      >
        <span className="sr-only">
          {riskLabels[it.risk]}: {levelLabels[modeOfLevel[it.level]]}
        </span>
        <span className="text-xs leading-3.5">{String(it.credit.now).replace('-', '−')}</span>
        <CreditBar credit={it.credit} className="h-1 w-9" />
      </span>
    ))}
    {classes.some(formatChecks) && (
      <Chip tone="accent" icon="eye">
        {classes.reduce((sum, { checks }) => sum + checks.unread, 0)}
        <span className="sr-only"> checks pending</span>
      </Chip>
    )}
  </span>
)
