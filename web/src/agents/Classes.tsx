import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import {
  formatChecks,
  formatCredit,
  isForgivable,
  formatKindCredit,
  modeOfLevel,
  riskLabels,
  formatStrikes,
  computeCreditBar,
} from './class-standing.ts'
import type { ClassStanding } from './class-standing.ts'
import type { TrustStanding } from './trust-rows.ts'
import { Button, buttonClass, textLink } from '../shared/Button.tsx'
import { LevelChip } from '../shared/Chips.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Section } from '../shared/Section.tsx'
import { useCanAct } from '../settings/person.ts'
import { Forgive } from './TrustDialogs.tsx'

/** The autonomy in each risk class: level, reason and next step (T11, T13, T14). */
export function Classes({ standing }: { standing: TrustStanding }) {
  const [forgiving, setForgiving] = useState<ClassStanding>()
  const canForgive = useCanAct()
  return (
    <Section title="Autonomy by risk">
      <ul className="grid border-t border-line">
        {standing.classes.map((it) => (
          <ClassLine
            key={it.risk}
            agent={standing.agent_id}
            standing={it}
            onForgive={canForgive && isForgivable(it) ? () => setForgiving(it) : undefined}
          />
        ))}
      </ul>
      {forgiving && (
        <Forgive standing={standing} given={forgiving} onClose={() => setForgiving(undefined)} />
      )}
    </Section>
  )
}

type LineProps = {
  agent: string
  standing: ClassStanding
  onForgive: (() => void) | undefined
}

function ClassLine({ agent, standing, onForgive }: LineProps) {
  const { risk, level, reason, next, credit, kinds } = standing
  const checks = formatChecks(standing)
  return (
    <li
      aria-label={riskLabels[risk]}
      className="grid grid-cols-[96px_minmax(0,1fr)] gap-x-4 gap-y-2 border-b border-line py-3 max-sm:grid-cols-[minmax(0,1fr)]"
    >
      <span className="text-soft">{riskLabels[risk]}</span>
      <div className="grid min-w-0 gap-2">
        <p className="min-w-0 break-words">
          <span className="mr-2 inline-flex translate-y-[-1px] align-middle">
            <LevelChip mode={modeOfLevel[level]} />
          </span>
          <SafeText text={joinReason(reason, next)} />
        </p>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5 text-xs text-soft">
          <span className="flex items-center gap-2">
            <CreditBar credit={credit} className="h-2 w-44 shrink-0 max-sm:w-32" />
            <span>
              <span className="sr-only">Credit: </span>
              {formatCredit(credit)}
            </span>
          </span>
          <Strikes standing={standing} />
        </div>
        {kinds.length > 0 && <Kinds kinds={kinds} />}
        {(checks !== undefined || onForgive) && (
          <p className="flex flex-wrap items-center gap-2">
            {checks !== undefined && (
              <Link
                to="/inbox"
                search={{ kind: 'spot_check', q: agent }}
                className={buttonClass('plain', 'sm')}
              >
                <Icon name="eye" size={14} />
                {checks}
              </Link>
            )}
            {onForgive && (
              <Button size="sm" tone="quiet" onClick={onForgive}>
                Forgive…
              </Button>
            )}
          </p>
        )}
      </div>
    </li>
  )
}

const joinReason = (reason: string, next: string | undefined) =>
  next === undefined ? reason : `${reason} · ${next}`

/** A cross for each strike and a dot for each remaining one, by shape as well as color (C11). */
function Strikes({ standing }: { standing: ClassStanding }) {
  const { now, most } = standing.strikes
  const says = formatStrikes(standing)
  if (says === undefined) return null
  return (
    <span className="flex items-center gap-2">
      <svg aria-hidden width={most * 12} height={12} fill="none">
        {Array.from({ length: most }, (_, at) => (
          <path
            key={at}
            d={at < now ? 'M-3-3L3 3M3-3L-3 3' : 'M0-1a1 1 0 1 0 0 2a1 1 0 1 0 0-2'}
            transform={`translate(${at * 12 + 6} 6)`}
            strokeWidth={2}
            strokeLinecap="round"
            className={at < now ? 'stroke-escalate' : 'stroke-edge'}
          />
        ))}
      </svg>
      {says}
    </span>
  )
}

/** Shows this many kinds, those with the most missing actions first. */
const maxShownKinds = 6

function Kinds({ kinds }: Pick<ClassStanding, 'kinds'>) {
  const [isExpanded, setExpanded] = useState(false)
  const sorted = kinds.toSorted((a, b) => b.to_go - a.to_go || a.kind.localeCompare(b.kind))
  const shown = isExpanded ? sorted : sorted.slice(0, maxShownKinds)
  const rest = kinds.length - shown.length
  return (
    <ul aria-label="Kinds of action" className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-soft">
      {shown.map((kind) => (
        <li key={kind.kind} className="flex min-w-0 items-center gap-1.5">
          <SafeText as="code" className="min-w-0 font-mono break-all text-text" text={kind.kind} />
          <span className="flex items-center gap-1 whitespace-nowrap">
            {kind.to_go === 0 && <Icon name="check" size={12} />}
            {formatKindCredit(kind)}
          </span>
        </li>
      ))}
      {rest > 0 && (
        <li>
          <button type="button" className={textLink} onClick={() => setExpanded(true)}>
            {rest} more kinds
          </button>
        </li>
      )}
    </ul>
  )
}

const toPercent = (part: number) => `${part * 100}%`

type CreditProps = { credit: ClassStanding['credit']; className?: string }

/** A bar from zero to the credit that the gate needs, with debt to the left of zero. The text beside it has the numbers. */
export function CreditBar({ credit, className = 'h-2 w-full' }: CreditProps) {
  const { zero, debt, earned } = computeCreditBar(credit)
  const isFull = credit.now >= credit.needed
  return (
    <span aria-hidden className={`flex overflow-hidden rounded-full ${className}`}>
      {debt > 0 && (
        <span className="border-r-2 border-bg bg-escalate" style={{ width: toPercent(debt) }} />
      )}
      <span className="bg-line" style={{ width: toPercent(1 - zero) }}>
        <span
          className={`block h-full ${isFull ? 'bg-act' : 'bg-suggest'}`}
          style={{ width: toPercent(earned) }}
        />
      </span>
    </span>
  )
}
