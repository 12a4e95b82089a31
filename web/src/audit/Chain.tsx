import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { buildLanes } from './chain.ts'
import type { ChainId, Lanes } from './chain.ts'
import type { Entry } from '../api/entry.ts'
import { getOutcome } from './outcome.ts'
import { formatEntryText } from './text.ts'
import { ActorChip } from '../shared/Chips.tsx'
import { Icon } from '../shared/Icon.tsx'
import { clockTime, formatDuration } from '../shared/time.ts'
import { chainQuery } from './entry-queries.ts'
import { Section } from '../shared/Section.tsx'

const columnWidth = 92
const lane = 68
const labelWidth = 132

/** The entries of one action as swim lanes (C8). */
export function Chain({ chain, entry }: { chain: ChainId; entry: Entry }) {
  const { data } = useQuery(chainQuery(chain))
  if (!data || data.length < 2) return null
  const lanes = buildLanes(data)
  const filterLink = (
    <Link
      to="/audit"
      search={{ [chain.name]: chain.id }}
      className="text-xs text-soft underline decoration-line underline-offset-3 hover:decoration-current"
    >
      Filter by {chain.name}
    </Link>
  )
  return (
    <Section title={`Steps of this ${chain.name}`} aside={filterLink}>
      <LaneDiagram lanes={lanes} current={entry.seq} />
    </Section>
  )
}

function LaneDiagram({ lanes: { lanes, steps }, current }: { lanes: Lanes; current: number }) {
  const width = labelWidth + steps.length * columnWidth
  const height = lanes.length * lane
  const x = (at: number) => labelWidth + at * columnWidth + columnWidth / 2
  const y = (row: number) => row * lane + 20
  // The line follows a lane before it changes lanes, so it crosses no text.
  const line = steps
    .map(({ lane: row }, at) => (at === 0 ? `M${x(0)} ${y(row)}` : `H${x(at)}V${y(row)}`))
    .join('')
  return (
    <div className="scroll-thin overflow-x-auto rounded border border-line">
      <div className="relative" style={{ minWidth: width, height }}>
        <svg aria-hidden className="absolute inset-0" width="100%" height={height}>
          {lanes.slice(1).map(({ kind, id }, row) => (
            <line
              key={`${kind} ${id}`}
              x1="0"
              x2="100%"
              y1={(row + 1) * lane}
              y2={(row + 1) * lane}
              stroke="var(--line)"
            />
          ))}
          <path d={line} fill="none" stroke="var(--edge)" strokeWidth="1.5" />
        </svg>
        {lanes.map((actor, row) => (
          <span
            key={`${actor.kind} ${actor.id}`}
            className="absolute flex items-center overflow-hidden px-3 text-xs text-soft"
            style={{ top: row * lane, height: 40, width: labelWidth }}
          >
            <ActorChip actor={actor} />
          </span>
        ))}
        <ol>
          {steps.map(({ entry, lane: row, label }, at) => (
            <li
              key={entry.seq}
              className="absolute"
              style={{
                left: labelWidth + at * columnWidth,
                top: row * lane,
                width: columnWidth,
                height: lane,
              }}
            >
              <Step
                entry={entry}
                label={label}
                before={steps[at - 1]?.entry}
                isCurrent={entry.seq === current}
              />
            </li>
          ))}
        </ol>
      </div>
    </div>
  )
}

type StepProps = { entry: Entry; label: string; before: Entry | undefined; isCurrent: boolean }

function Step({ entry, label, before, isCurrent }: StepProps) {
  const outcome = getOutcome(entry)
  const tone =
    outcome === 'failed'
      ? 'bg-escalate text-on-escalate'
      : outcome === 'refused'
        ? 'bg-suggest text-bg'
        : 'bg-act text-bg'
  return (
    <Link
      to="/audit/$seq"
      params={{ seq: String(entry.seq) }}
      search={true}
      title={formatEntryText(entry)}
      aria-current={isCurrent ? 'step' : undefined}
      className="grid h-full content-start justify-items-center gap-1 rounded pt-3 -outline-offset-2"
    >
      <span
        className={`grid size-4 place-items-center rounded-full ring-2 ring-bg ${tone} ${isCurrent ? 'outline-2 outline-offset-2 outline-accent' : ''}`}
      >
        <Icon
          name={outcome === 'failed' ? 'warn' : outcome === 'refused' ? 'cross' : 'check'}
          size={10}
        />
      </span>
      <span className="grid justify-items-center text-xs leading-4">
        <b>{label}</b>
        <span className="text-faint">
          {before ? `+${formatDuration(entry.at - before.at)}` : clockTime(entry.at)}
        </span>
      </span>
    </Link>
  )
}
