import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isRubberStamped, formatSeconds, buildBars } from './quality.ts'
import type { Quality, OverrideBar } from './quality.ts'
import type { AgentFilters, TrustStanding } from './trust-rows.ts'
import { formatPercent, overrideLabels, severityLabels } from '../inbox/text.ts'
import { Meter } from '../shared/Meter.tsx'
import { Section } from '../shared/Section.tsx'
import { QueryState, Note } from '../shared/States.tsx'
import { qualityQuery } from './agent-queries.ts'
import { periodDays } from './TrustHistory.tsx'
import { severities } from '#base/override.ts'
import type { Severity } from '#base/override.ts'
import { AsTable } from '../shared/HorizontalScroll.tsx'

type Props = { standing: TrustStanding; filters: AgentFilters }

export function Reviews({ standing: { agent_id: agent, domain }, filters }: Props) {
  const days = periodDays(filters)
  const query = useQuery(qualityQuery(agent, domain, days))
  const { data } = query
  if (!data)
    return (
      <Section title={`Reviews, last ${days} days`}>
        <QueryState query={query} what="reviews" rows={3} />
      </Section>
    )
  return (
    <>
      <Section title={`Reviews, last ${days} days`}>
        {isRubberStamped(data) && <RubberStamp quality={data} />}
        {data.n_reviewed === 0 && data.autonomous === 0 ? (
          <p className="text-soft">No decisions in this period</p>
        ) : (
          <Figures quality={data} />
        )}
      </Section>
      <OverrideBars quality={data} days={days} />
    </>
  )
}

const RubberStamp = ({ quality }: { quality: Quality }) => (
  <Note tone="escalate" icon="warn">
    <p>
      <b>Possible rubber-stamping.</b> {formatPercent(quality.approval_rate ?? 0)} of{' '}
      {quality.n_reviewed} were approved, {formatPercent(quality.rubber_stamp_share ?? 0)} of them
      within 3 s.
    </p>
    <p className="text-xs text-soft">
      Approvals are faster than reading time. Review fewer items, or allow low-risk actions.
    </p>
  </Note>
)

function Figures({ quality }: { quality: Quality }) {
  const { approval_rate: rate, approval_interval: interval, latency_p50: half } = quality
  return (
    <dl className="grid grid-cols-[112px_minmax(0,1fr)] gap-x-3 gap-y-1.5">
      {rate !== null && (
        <Figure name="Approved">
          <b>{formatPercent(rate)}</b>
          <Meter value={rate} tone="act" className="w-24" />
          <span className="text-soft">
            of {quality.n_reviewed}
            {interval &&
              `, likely ${formatPercent(interval.low)} to ${formatPercent(interval.high)}`}
          </span>
        </Figure>
      )}
      {half !== null && (
        <Figure name="Decided within">
          <b>{formatSeconds(half)}</b>
          <span className="text-soft">
            median
            {quality.latency_p95 !== null && `, ${formatSeconds(quality.latency_p95)} p95`}
          </span>
        </Figure>
      )}
      {quality.rubber_stamp_share !== null && (
        <Figure name="Fast approvals">
          <b>{formatPercent(quality.rubber_stamp_share)}</b>
          <span className="text-soft">approved within 3 s</span>
        </Figure>
      )}
      {quality.autonomous > 0 && (
        <Figure name="Autonomous actions">
          <b>{quality.autonomous}</b>
          <span className="text-soft">
            {quality.escape_rate === null || quality.escape_rate === 0
              ? '0 marked as wrong'
              : `${formatPercent(quality.escape_rate)} marked as wrong`}
          </span>
        </Figure>
      )}
      {quality.collaboration_score !== null && (
        <Figure name="Collaboration">
          <b>{Math.round(quality.collaboration_score)}</b>
          <span className="text-soft">of 100: overrides, speed, confidence and errors</span>
        </Figure>
      )}
    </dl>
  )
}

const Figure = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-faint">{name}</dt>
    <dd className="flex min-w-0 flex-wrap items-center gap-x-2.5">{children}</dd>
  </>
)

const shades: Record<Severity, string> = {
  low: 'bg-escalate/25',
  medium: 'bg-escalate/50',
  high: 'bg-escalate/75',
  critical: 'bg-escalate',
}

function OverrideBars({ quality, days }: { quality: Quality; days: number }) {
  const bars = buildBars(quality)
  if (bars.length === 0) return null
  const maxTotal = Math.max(...bars.map(({ total }) => total))
  return (
    <Section title={`Overrides, last ${days} days`}>
      <figure className="grid gap-2">
        <ul className="grid gap-1.5">
          {bars.map((bar) => (
            <Bar key={bar.type} bar={bar} most={maxTotal} />
          ))}
        </ul>
        <ul aria-label="Legend" className="flex gap-3.5 text-xs text-soft">
          {severities.map((severity) => (
            <li key={severity} className="flex items-center gap-1">
              <span aria-hidden className={`size-2.5 rounded-xs ${shades[severity]}`} />
              {severityLabels[severity]}
            </li>
          ))}
        </ul>
        <AsTable
          label="Overrides as a table"
          heads={['Type', ...severities.map((severity) => severityLabels[severity]), 'All']}
        >
          {bars.map(({ type, total, parts }) => (
            <tr key={type}>
              <td className="whitespace-nowrap">{overrideLabels[type].name}</td>
              {parts.map(({ severity, count }) => (
                <td key={severity}>{count}</td>
              ))}
              <td>{total}</td>
            </tr>
          ))}
        </AsTable>
      </figure>
    </Section>
  )
}

function Bar({ bar: { type, total, parts }, most }: { bar: OverrideBar; most: number }) {
  const nonZeroParts = parts.filter(({ count }) => count > 0)
  return (
    <li className="grid grid-cols-[140px_minmax(0,1fr)] items-center gap-x-3 max-sm:grid-cols-1">
      <span>{overrideLabels[type].name}</span>
      <span className="flex min-w-0 items-center gap-2.5">
        <span
          aria-hidden
          className="flex h-3.5 min-w-1 gap-px overflow-hidden rounded-xs"
          style={{ width: `${(total / most) * 55}%` }}
        >
          {nonZeroParts.map(({ severity, count }) => (
            <span key={severity} className={shades[severity]} style={{ flexGrow: count }} />
          ))}
        </span>
        <span className="text-xs text-soft">
          <b className="text-text">{total}</b>{' '}
          {nonZeroParts.map(({ severity, count }) => `${count} ${severity}`).join(', ')}
        </span>
      </span>
    </li>
  )
}
