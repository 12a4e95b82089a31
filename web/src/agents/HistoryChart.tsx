import { useId, useRef, useState } from 'react'
import {
  listMarkKinds,
  buildMarks,
  markLabels,
  findNearest,
  buildChart,
  chartRange,
} from './trust-history.ts'
import type { TrustHistory, MarkKind, ChartRange, ChartPoint } from './trust-history.ts'
import { buildBands } from '../inbox/trust-chart.ts'
import { modeForScore } from '../inbox/approval.ts'
import type { Mode, Thresholds } from '../inbox/approval.ts'
import { levelLabels, formatScore } from '../inbox/text.ts'
import { formatDateTime, shortDate } from '../shared/time.ts'
import { useWidth } from '../shared/use-width.ts'

const height = 176
const edge = 6
const fills = { act: 'fill-act-bg', suggest: 'fill-suggest-bg', escalate: 'fill-escalate-bg' }
const inks = { act: 'text-act', suggest: 'text-suggest', escalate: 'text-escalate' }

type Props = { history: TrustHistory; days: number; now: number }

/** Trust over time on the bands of the modes; pointer, touch and arrow keys select a point. */
export function HistoryChart({ history, days, now }: Props) {
  const container = useRef<HTMLDivElement>(null)
  const width = useWidth(container, 560)
  const range = chartRange(days, now)
  const chart = buildChart(history, range, { width, height })
  const { stops } = chart
  const current = stops.findIndex(({ kind }) => kind === 'now')
  const [chosen, setChosen] = useState<number>()
  const at = Math.min(chosen ?? current, stops.length - 1)
  const stop = stops[at]
  const bands = buildBands(history.thresholds, height)
  // A closed gate can lower the current mode; for the past only the score is known.
  const getMode = ({ kind, score: value }: ChartPoint) =>
    kind === 'now' ? history.now.mode : modeForScore(value, history.thresholds)
  return (
    <figure className="grid gap-1.5">
      {stop && <Readout stop={stop} mode={getMode(stop)} now={now} />}
      <div className="grid grid-cols-[minmax(0,1fr)_96px] gap-x-2">
        <div ref={container} className="relative">
          <Slider
            at={at}
            count={stops.length}
            says={
              stop &&
              `${stop.says}, ${formatPointTime(stop, now)}: ${formatScore(stop.score)}, ${levelLabels[getMode(stop)]}`
            }
            onChange={setChosen}
          />
          <svg
            aria-hidden
            width={width}
            height={height + 2 * edge}
            viewBox={`0 ${-edge} ${width} ${height + 2 * edge}`}
            className="block touch-pan-y overflow-visible rounded-sm peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-accent"
            onPointerMove={(event) => {
              const { left } = event.currentTarget.getBoundingClientRect()
              setChosen(findNearest(stops, event.clientX - left))
            }}
            onPointerLeave={() => setChosen(undefined)}
          >
            {bands.map(({ mode, y, height: high }) => (
              <rect key={mode} y={y} width={width} height={high} className={fills[mode]} />
            ))}
            <path d={`M${chart.nowX} 0V${height}`} className="stroke-edge" strokeWidth={1} />
            <path
              d={chart.decay}
              fill="none"
              strokeWidth={1.6}
              strokeDasharray="1.5 4"
              strokeLinecap="round"
              className="stroke-text"
            />
            <path d={chart.steps} fill="none" strokeWidth={1.6} className="stroke-text" />
            {buildMarks(stops).map(({ kind, x, y }, index) => (
              // The points of one history never change their order.
              // oxlint-disable-next-line react/no-array-index-key
              <Mark key={index} kind={kind} x={x} y={y} />
            ))}
            {stop && <Cursor stop={stop} />}
          </svg>
        </div>
        <Bands bands={bands} thresholds={history.thresholds} />
        <Dates
          begins={chart.isYoung ? 'first decision' : shortDate(range.from)}
          span={range}
          nowX={chart.nowX}
          width={width}
        />
      </div>
      <Legend kinds={listMarkKinds(stops)} />
    </figure>
  )
}

const Cursor = ({ stop: { x, y } }: { stop: ChartPoint }) => (
  <g className="pointer-events-none">
    <path d={`M${x} 0V${height}`} className="stroke-accent" strokeWidth={1} opacity={0.5} />
    <circle cx={x} cy={y} r={7} fill="none" strokeWidth={1.8} className="stroke-accent" />
  </g>
)

function formatPointTime({ kind, at }: ChartPoint, now: number): string {
  if (kind === 'now') return 'now'
  if (kind !== 'ahead') return formatDateTime(at)
  const days = Math.round((at - now) / 86_400_000)
  return `in ${days === 1 ? '1 day' : `${days} days`}`
}

type ReadoutProps = { stop: ChartPoint; mode: Mode; now: number }

const Readout = ({ stop, mode, now }: ReadoutProps) => (
  <figcaption className="flex min-h-5 flex-wrap items-center gap-x-2 text-xs text-soft">
    <b className="text-sm text-text">{formatScore(stop.score)}</b>
    <span className={inks[mode]}>{levelLabels[mode]}</span>
    <span>{stop.kind === 'now' ? 'now' : `${stop.says}, ${formatPointTime(stop, now)}`}</span>
  </figcaption>
)

type SliderProps = {
  at: number
  count: number
  says: string | undefined
  onChange: (at: number | undefined) => void
}

/** Makes the points available to the keyboard and screen readers; the SVG is hidden from them. */
function Slider({ at, count, says, onChange }: SliderProps) {
  const id = useId()
  return (
    <>
      <label htmlFor={id} className="sr-only">
        Trust over time, point by point
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={Math.max(0, count - 1)}
        step={1}
        value={at}
        aria-valuetext={says}
        onChange={(event) => onChange(Number(event.target.value))}
        onBlur={() => onChange(undefined)}
        className="peer pointer-events-none absolute size-px opacity-0"
      />
    </>
  )
}

type BandsProps = { bands: ReturnType<typeof buildBands>; thresholds: Thresholds }

const Bands = ({ bands, thresholds: { suggest, act } }: BandsProps) => (
  <div aria-hidden className="relative text-[11px] leading-3.5" style={{ marginTop: edge }}>
    {bands
      .filter(({ height: high }) => high >= 14)
      .map(({ mode, y, height: high }) => (
        <span
          key={mode}
          className={`absolute left-0 -translate-y-1/2 ${inks[mode]}`}
          style={{ top: y + high / 2 }}
        >
          {levelLabels[mode]}
        </span>
      ))}
    {[...new Set([act, suggest])].map((value) => (
      <span
        key={value}
        className="absolute right-0 -translate-y-1/2 text-faint"
        style={{ top: (1 - value) * height }}
      >
        {formatScore(value)}
      </span>
    ))}
  </div>
)

/** The width that keeps two labels apart. */
const labelWidth = 76

type DatesProps = { begins: string; span: ChartRange; nowX: number; width: number }

function Dates({ begins, span, nowX, width }: DatesProps) {
  return (
    <div aria-hidden className="relative h-4 text-[11px] leading-4 text-faint">
      <span className="absolute left-0">{begins}</span>
      <span className="absolute -translate-x-1/2" style={{ left: nowX }}>
        now
      </span>
      {width - nowX > labelWidth && <span className="absolute right-0">{shortDate(span.to)}</span>}
    </div>
  )
}

const Legend = ({ kinds }: { kinds: readonly MarkKind[] }) => (
  <ul aria-label="Legend" className="flex flex-wrap gap-x-3.5 gap-y-0.5 text-xs text-soft">
    {kinds.map((kind) => (
      <li key={kind} className="flex items-center gap-1">
        <svg aria-hidden width={14} height={14} viewBox="-7 -7 14 14">
          <Mark kind={kind} />
        </svg>
        {markLabels[kind]}
      </li>
    ))}
    <li className="flex items-center gap-1">
      <svg aria-hidden width={16} height={14} viewBox="0 0 16 14">
        <path
          d="M1 7H15"
          strokeWidth={1.6}
          strokeDasharray="1.5 4"
          strokeLinecap="round"
          className="stroke-text"
        />
      </svg>
      Decay while idle
    </li>
  </ul>
)

/** Each kind has its own shape, not only a color (C11). */
const shapes: Record<MarkKind, { d: string; className: string }> = {
  approved: { d: 'M0-3a3 3 0 1 0 0 6a3 3 0 1 0 0-6', className: 'fill-act stroke-bg' },
  agent_wrong: { d: 'M-3.5-3.5L3.5 3.5M3.5-3.5L-3.5 3.5', className: 'stroke-escalate' },
  missing_context: {
    d: 'M0-4a4 4 0 1 0 0 8a4 4 0 1 0 0-8',
    className: 'fill-bg stroke-suggest',
  },
  edge_case: { d: 'M0-4.5L4.5 0L0 4.5L-4.5 0z', className: 'fill-bg stroke-suggest' },
  human_preference: { d: 'M-3.5-3.5h7v7h-7z', className: 'fill-bg stroke-soft' },
  policy_change: { d: 'M-4-2.5h8M-4 2.5h8', className: 'stroke-soft' },
  set: { d: 'M-4-4h8v8h-8z', className: 'fill-accent stroke-bg' },
  promoted: { d: 'M0-5L5 4H-5z', className: 'fill-act stroke-bg' },
  demoted: { d: 'M0 5L5-4H-5z', className: 'fill-escalate stroke-bg' },
  opened: { d: 'M-4 5V-4H4V5', className: 'stroke-act' },
  closed: { d: 'M-4 5V-4H4V5M-6.5 5H6.5M0-4V5', className: 'stroke-escalate' },
  look_back: {
    d: 'M-6 0Q0-6 6 0Q0 6-6 0zM0-.6a.6 .6 0 1 0 0 1.2a.6 .6 0 1 0 0-1.2',
    className: 'fill-bg stroke-accent',
  },
  forgiven: { d: 'M-5 0L-1.5 4L5-4', className: 'stroke-accent' },
  other: { d: 'M0-2a2 2 0 1 0 0 4a2 2 0 1 0 0-4', className: 'fill-soft stroke-bg' },
}

const Mark = ({ kind, x = 0, y = 0 }: { kind: MarkKind; x?: number; y?: number }) => {
  const { d, className } = shapes[kind]
  return (
    <path
      d={d}
      transform={`translate(${x} ${y})`}
      strokeWidth={className.includes('stroke-bg') ? 1 : 1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      className={className.includes('fill-') ? className : `fill-none ${className}`}
    />
  )
}
