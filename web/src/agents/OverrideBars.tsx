import { barsOf } from './quality.ts'
import type { OverrideBar, Quality } from './quality.ts'
import { severities } from '../inbox/approval.ts'
import type { Severity } from '../inbox/approval.ts'
import { overrideWords, severityWords } from '../inbox/text.ts'
import { Section } from '../shared/Section.tsx'
import { Sideways } from '../shared/Sideways.tsx'

const shades: Record<Severity, string> = {
  low: 'bg-escalate/25',
  medium: 'bg-escalate/50',
  high: 'bg-escalate/75',
  critical: 'bg-escalate',
}

/** Why people said no, by type; each bar in parts by severity, and the same in words beside it. */
export function OverrideBars({ quality, days }: { quality: Quality; days: number }) {
  const bars = barsOf(quality)
  if (bars.length === 0) return null
  const most = Math.max(...bars.map(({ total }) => total))
  return (
    <Section title={`Overrides, last ${days} days`}>
      <figure className="grid gap-2">
        <ul className="grid gap-1.5">
          {bars.map((bar) => (
            <Bar key={bar.type} bar={bar} most={most} />
          ))}
        </ul>
        <ul aria-label="Legend" className="flex gap-3.5 text-xs text-soft">
          {severities.map((severity) => (
            <li key={severity} className="flex items-center gap-1">
              <span aria-hidden className={`size-2.5 rounded-xs ${shades[severity]}`} />
              {severityWords[severity]}
            </li>
          ))}
        </ul>
        <AsTable bars={bars} />
      </figure>
    </Section>
  )
}

function Bar({ bar: { type, total, parts }, most }: { bar: OverrideBar; most: number }) {
  const said = parts.filter(({ count }) => count > 0)
  return (
    <li className="grid grid-cols-[140px_minmax(0,1fr)] items-center gap-x-3 max-sm:grid-cols-1">
      <span>{overrideWords[type].name}</span>
      <span className="flex min-w-0 items-center gap-2.5">
        <span
          aria-hidden
          className="flex h-3.5 min-w-1 gap-px overflow-hidden rounded-xs"
          style={{ width: `${(total / most) * 55}%` }}
        >
          {said.map(({ severity, count }) => (
            <span key={severity} className={shades[severity]} style={{ flexGrow: count }} />
          ))}
        </span>
        <span className="text-xs text-soft">
          <b className="text-text">{total}</b>{' '}
          {said.map(({ severity, count }) => `${count} ${severity}`).join(', ')}
        </span>
      </span>
    </li>
  )
}

const AsTable = ({ bars }: { bars: readonly OverrideBar[] }) => (
  <details>
    <summary className="w-fit text-xs text-soft">As a table</summary>
    <Sideways label="Overrides as a table" className="mt-1">
      <table className="w-full text-left text-xs [&_td]:border-t [&_td]:border-line [&_td]:py-0.5 [&_td]:pr-4 [&_th]:py-0.5 [&_th]:pr-4">
        <thead className="text-faint">
          <tr>
            <th className="font-semibold">Type</th>
            {severities.map((severity) => (
              <th key={severity} className="font-semibold">
                {severityWords[severity]}
              </th>
            ))}
            <th className="font-semibold">All</th>
          </tr>
        </thead>
        <tbody>
          {bars.map(({ type, total, parts }) => (
            <tr key={type}>
              <td className="whitespace-nowrap">{overrideWords[type].name}</td>
              {parts.map(({ severity, count }) => (
                <td key={severity}>{count}</td>
              ))}
              <td>{total}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Sideways>
  </details>
)
