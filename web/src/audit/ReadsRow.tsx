import { ActorChip } from '../shared/Chips.tsx'
import { Icon } from '../shared/Icon.tsx'
import { Plain } from '../shared/Plain.tsx'
import { clockTime } from '../shared/time.ts'
import type { ReadsRun } from './row.ts'

type Props = { run: ReadsRun; isWide: boolean; onToggle: () => void }

const named = 3

/** Several reads in a row, folded into one line that opens. */
export function ReadsRow({ run: { key, first, entries, isOpen }, isWide, onToggle }: Props) {
  const tools = [...new Set(entries.map(({ data }) => String(data?.['tool'])))]
  const names = tools.slice(0, named).join(', ')
  const rest = tools.length > named ? ` and ${tools.length - named} more` : ''
  const icon = (
    <span className={`transition-transform ${isOpen ? '' : '-rotate-90'}`}>
      <Icon name="down" />
    </span>
  )
  const text = (
    <span className="min-w-0 flex-1 truncate">
      {entries.length} reads: <Plain text={names} />
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
