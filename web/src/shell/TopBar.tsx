import { useSyncExternalStore } from 'react'
import { openDialog } from './dialog.ts'
import { live } from '../api/live.ts'
import type { LiveState } from '../api/live.ts'
import { useCommand } from '../api/queries.ts'
import { formatCommands } from '../setup/command.ts'
import { IconButton } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { KeyHint } from '../shared/Keys.tsx'

export const TopBar = ({ title, mayHalt }: { title: string; mayHalt: boolean }) => (
  <header className="row-start-2 flex items-center gap-3 border-b border-line px-5 max-md:gap-1 max-md:px-4">
    <h1 className="mr-auto text-md font-semibold">{title}</h1>
    <button
      type="button"
      onClick={() => openDialog('palette')}
      aria-keyshortcuts="Control+K Meta+K"
      className="flex h-7.5 w-70 items-center gap-2 rounded border border-line bg-panel pr-2 pl-2.5 text-faint hover:border-edge max-md:hidden"
    >
      <Icon name="search" />
      <span className="mr-auto">Search or jump to</span>
      <KeyHint combo="mod+k" />
    </button>
    <LiveDot />
    <IconButton
      icon="search"
      label="Search or jump to"
      onClick={() => openDialog('palette')}
      className="md:hidden"
    />
    {mayHalt && (
      <IconButton
        icon="halt"
        label="Halt all agents"
        onClick={() => openDialog('halt')}
        danger
        className="-mr-3 md:hidden"
      />
    )}
  </header>
)

const states: Record<LiveState, { label: string; dot: string; tip: string }> = {
  connecting: {
    label: 'Connecting',
    dot: 'bg-faint pulse',
    tip: 'Connecting to the live stream',
  },
  live: { label: 'Live', dot: 'bg-act', tip: 'Changes appear within 1 s' },
  reconnecting: {
    label: 'Reconnecting',
    dot: 'bg-suggest pulse',
    tip: 'Reconnecting. No entries are lost.',
  },
  offline: {
    label: 'Offline',
    dot: 'bg-escalate',
    tip: 'Cannot reach cowork. Start it with `cowork up -d`.',
  },
}

function LiveDot() {
  const state = useSyncExternalStore(live.state.subscribe, live.state.get)
  const { label, dot, tip } = states[state]
  const command = useCommand()
  return (
    <span
      role="status"
      title={formatCommands(tip, command)}
      className="flex items-center gap-1.5 text-xs text-soft"
    >
      <span aria-hidden className={`size-1.75 rounded-full ${dot}`} />
      {label}
    </span>
  )
}
