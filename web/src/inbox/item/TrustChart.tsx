import type { Detail } from '../approval.ts'
import { buildBands, chartDays, stepPath } from '../trust-chart.ts'
import { levelLabels, formatScore } from '../text.ts'
import { SafeText } from '../../shared/SafeText.tsx'
import { Section } from '../../shared/Section.tsx'
import { AsTable } from '../../shared/HorizontalScroll.tsx'
import { fullTime } from '../../shared/time.ts'
import { useNow } from '../../shared/use-now.ts'

const box = { width: 600, height: 84 }
const fills = { act: 'fill-act-bg', suggest: 'fill-suggest-bg', escalate: 'fill-escalate-bg' }
const textColors = { act: 'text-act', suggest: 'text-suggest', escalate: 'text-escalate' }

/** Trust over time on the bands of the modes, with a table twin (C11). */
export function TrustChart({ detail }: { detail: Detail }) {
  const now = useNow()
  const { trust_points: points, why, domain } = detail
  if (points.length === 0) return null
  const bands = buildBands(why.thresholds, box.height)
  const last = points.at(-1)?.score ?? 0
  return (
    <Section
      title={
        <>
          Trust in <SafeText text={domain} />, last {chartDays} days
        </>
      }
    >
      <figure className="grid gap-1.5">
        <div className="flex gap-2">
          <svg
            role="img"
            aria-label={`Trust from ${formatScore(points[0]?.score ?? 0)} to ${formatScore(last)}`}
            viewBox={`0 0 ${box.width} ${box.height}`}
            preserveAspectRatio="none"
            className="h-21 min-w-0 flex-1 rounded-sm"
          >
            {bands.map(({ mode, y, height }) => (
              <rect key={mode} y={y} width={box.width} height={height} className={fills[mode]} />
            ))}
            <path
              d={stepPath(points, now, box)}
              fill="none"
              stroke="var(--text)"
              strokeWidth={1.6}
              vectorEffect="non-scaling-stroke"
            />
          </svg>
          <div aria-hidden className="relative h-21 w-17 text-[11px] leading-3.5">
            {bands.map(({ mode, y, height }) => (
              <span
                key={mode}
                className={`absolute left-0 -translate-y-1/2 ${textColors[mode]}`}
                style={{ top: y + height / 2 }}
              >
                {levelLabels[mode]}
              </span>
            ))}
          </div>
        </div>
        <AsTable label="Trust as a table" heads={['When', 'Trust', 'Cause']} className="max-h-60">
          {points.toReversed().map(({ at, score: value, cause }, index) => (
            // A mistake and its look-back have the same time, and points never change their order.
            // oxlint-disable-next-line react/no-array-index-key
            <tr key={`${at} ${index}`}>
              <td className="whitespace-nowrap">{fullTime(Date.parse(at))}</td>
              <td>{formatScore(value)}</td>
              <SafeText as="td" text={cause.replaceAll('_', ' ')} />
            </tr>
          ))}
        </AsTable>
      </figure>
    </Section>
  )
}
