import type { ReactNode } from 'react'
import type { Mode } from '../inbox/approval.ts'
import { levelLabels, formatMode, formatScore } from '../inbox/text.ts'
import type { Actor } from '../api/entry.ts'
import { outcomeLabels } from '../audit/outcome.ts'
import type { Outcome } from '../audit/outcome.ts'
import { Icon } from './Icon.tsx'
import type { IconName } from './Icon.tsx'
import { SafeText } from './SafeText.tsx'

type Tone = 'act' | 'suggest' | 'escalate' | 'accent' | 'plain'

const tones: Record<Tone, string> = {
  act: 'bg-act-bg text-act',
  suggest: 'bg-suggest-bg text-suggest',
  escalate: 'bg-escalate-bg text-escalate',
  accent: 'bg-accent-bg text-accent',
  plain: 'bg-raised text-soft',
}

type ChipProps = { tone: Tone; icon?: IconName; children: ReactNode }

/** Shows color, icon and word together, never color alone (C14). */
export const Chip = ({ tone, icon, children }: ChipProps) => (
  <span
    className={`inline-flex h-4.5 shrink-0 items-center gap-1 rounded-sm px-1.5 text-xs font-[550] whitespace-nowrap ${tones[tone]}`}
  >
    {icon && <Icon name={icon} size={12} />}
    {children}
  </span>
)

export const ModeChip = ({ mode, trust = null }: { mode: Mode; trust?: number | null }) => (
  <Chip tone={mode} icon={mode}>
    {formatMode(mode, trust)}
  </Chip>
)

export const LevelChip = ({ mode, trust }: { mode: Mode; trust?: number }) => (
  <Chip tone={mode} icon={mode}>
    {levelLabels[mode]}
    {trust !== undefined && ` ${formatScore(trust)}`}
  </Chip>
)

const actorIcons: Record<Actor['kind'], IconName> = {
  agent: 'agent',
  human: 'person',
  system: 'system',
}
export const actorKinds: Record<Actor['kind'], string> = {
  agent: 'Agent',
  human: 'Person',
  system: 'System',
}

export const ActorChip = ({ actor }: { actor: Actor }) => (
  <span
    className="inline-flex min-w-0 items-center gap-1.5"
    title={`${actorKinds[actor.kind]}${actor.verified === false ? ', unverified' : ''}`}
  >
    <Icon name={actorIcons[actor.kind]} size={14} />
    <span className="sr-only">{actorKinds[actor.kind]}</span>
    <SafeText as="span" className="truncate" text={actor.id} />
  </span>
)

const refusedStyle = { tone: 'suggest', icon: 'stop' } as const
const failedStyle = { tone: 'escalate', icon: 'warn' } as const

/** Shows the usual outcome without a chip, so that refused and failed entries stand out. */
export function OutcomeChip({ outcome }: { outcome: Outcome }) {
  if (outcome !== 'done')
    return (
      <Chip {...(outcome === 'failed' ? failedStyle : refusedStyle)}>{outcomeLabels[outcome]}</Chip>
    )
  return (
    <span className="inline-flex shrink-0 items-center gap-1 text-xs text-soft">
      <Icon name="check" size={12} />
      {outcomeLabels.done}
    </span>
  )
}
