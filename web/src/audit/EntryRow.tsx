import { Link } from '@tanstack/react-router'
import { memo, useState } from 'react'
import type { Filters } from './filter.ts'
import { getOutcome } from './outcome.ts'
import { getEntryKind } from './text.ts'
import type { EntryKind } from '../shared/sentence.ts'
import { ActorChip, OutcomeChip } from '../shared/Chips.tsx'
import { Icon } from '../shared/Icon.tsx'
import type { IconName } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { EntrySentence } from './Sentence.tsx'
import { clockTime, fullTime } from '../shared/time.ts'
import type { EntryLine, ReadsRun } from './row.ts'

const icons: Record<EntryKind, IconName> = {
  call: 'call',
  action: 'action',
  decision: 'decision',
  agent: 'agent',
  person: 'person',
  access: 'key',
  halt: 'halt',
  resume: 'resume',
  system: 'system',
  other: 'other',
}

type Props = {
  row: EntryLine
  /** Arrived while the list was open. */
  isNew: boolean
  isWide: boolean
  isSelected: boolean
  filters: Filters
}

/** Highlights rows younger than this when they appear. */
const highlightMs = 3000

export const EntryRow = memo(function EntryRow(props: Props) {
  const { row, isNew, isWide, isSelected, filters } = props
  const { entry, isEcho } = row
  const outcome = getOutcome(entry)
  const kind = getEntryKind(entry)
  const [arrives] = useState(() => isNew && Date.now() - entry.at < highlightMs)
  const time = (
    <time
      dateTime={new Date(entry.at).toISOString()}
      title={fullTime(entry.at)}
      className="shrink-0 text-xs"
    >
      {clockTime(entry.at)}
    </time>
  )
  const icon = (
    <Icon
      name={icons[kind]}
      className={kind === 'halt' || outcome === 'failed' ? 'text-escalate' : ''}
    />
  )
  const sentence = (
    <span className={`min-w-0 flex-1 truncate ${isEcho ? '[&_b]:font-normal' : 'text-text'}`}>
      <EntrySentence entry={entry} />
    </span>
  )
  return (
    <Link
      to="/audit/$seq"
      params={{ seq: String(entry.seq) }}
      search={filters}
      data-row={row.key}
      className={`flex h-full border-b border-line px-4 text-soft -outline-offset-2 ${arrives ? 'arrive' : ''} ${
        isSelected ? 'bg-accent-bg shadow-[inset_2px_0_var(--accent)]' : 'hover:bg-raised'
      } ${isWide ? 'items-center gap-3' : 'flex-col justify-center gap-0.5'}`}
    >
      {isWide ? (
        <>
          {icon}
          {time}
          {sentence}
          <span className="flex w-36 min-w-0 shrink-0 text-xs">
            <ActorChip actor={entry.actor} />
          </span>
          <span className="hidden w-32 shrink-0 truncate text-xs @4xl:block">
            {entry.domain && <SafeText text={entry.domain} />}
          </span>
          <span className="flex w-18 shrink-0 justify-end">
            {outcome && <OutcomeChip outcome={outcome} />}
          </span>
        </>
      ) : (
        <>
          <span className="flex items-center gap-2.5">
            {icon}
            {sentence}
            {time}
          </span>
          <span className="flex items-center gap-3 pl-6.5 text-xs">
            {outcome && outcome !== 'done' && <OutcomeChip outcome={outcome} />}
            <ActorChip actor={entry.actor} />
            {entry.domain && (
              <SafeText as="span" className="min-w-0 truncate" text={entry.domain} />
            )}
          </span>
        </>
      )}
    </Link>
  )
})

type ReadsProps = { run: ReadsRun; isWide: boolean; onToggle: () => void }

const maxToolNames = 3

export function ReadGroupRow({
  run: { key, first, entries, isOpen },
  isWide,
  onToggle,
}: ReadsProps) {
  const tools = [...new Set(entries.map(({ data }) => String(data?.['tool'])))]
  const names = tools.slice(0, maxToolNames).join(', ')
  const rest = tools.length > maxToolNames ? ` and ${tools.length - maxToolNames} more` : ''
  const icon = <Icon name="down" className={`transition-transform ${isOpen ? '' : '-rotate-90'}`} />
  const text = (
    <span className="min-w-0 flex-1 truncate">
      {entries.length} reads: <SafeText text={names} />
      {rest}
    </span>
  )
  const time = <span className="shrink-0 text-xs">{clockTime(first.at)}</span>
  const actor = (
    <span className="flex w-36 min-w-0 shrink-0 text-xs">
      <ActorChip actor={first.actor} />
    </span>
  )
  return (
    <button
      type="button"
      data-row={key}
      aria-expanded={isOpen}
      onClick={onToggle}
      className={`flex h-full w-full border-b border-line px-4 text-left text-soft -outline-offset-2 hover:bg-raised ${
        isWide ? 'items-center gap-3' : 'flex-col justify-center gap-0.5'
      }`}
    >
      {isWide ? (
        <>
          {icon}
          {time}
          {text}
          {actor}
          <span className="w-18 shrink-0 @4xl:w-53" />
        </>
      ) : (
        <>
          <span className="flex w-full items-center gap-2.5">
            {icon}
            {text}
            {time}
          </span>
          <span className="flex w-full pl-6.5">{actor}</span>
        </>
      )}
    </button>
  )
}
