import { Link, useNavigate } from '@tanstack/react-router'
import { chipsOf, everyKind } from '../../inbox/filters.ts'
import type { InboxFilters, KindChip, View } from '../../inbox/filters.ts'
import { FindBox } from '../../parts/FindBox.tsx'
import type { Inbox } from './use-inbox.ts'

const number = new Intl.NumberFormat()

/** What the list shows: which kinds, which words, and whether it still waits. */
export function InboxBar({ filters, inbox }: { filters: InboxFilters; inbox: Inbox }) {
  const isWaiting = filters.view === undefined
  const navigate = useNavigate()
  const find = (q: string) => {
    const { q: _, ...others } = filters
    void navigate({ to: '.', search: { ...others, ...(q !== '' && { q }) }, replace: true })
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2 border-b border-line px-4 py-2.5">
      <nav
        aria-label="Kinds"
        className="-mx-4 -my-1 flex gap-1.5 overflow-x-auto px-4 py-1 [scrollbar-width:none]"
      >
        {chipsOf(isWaiting ? inbox.counts : everyKind, filters.kind).map((chip) => (
          <Pill key={chip.kind ?? 'all'} chip={chip} filters={filters} hasCount={isWaiting} />
        ))}
      </nav>
      <div className="flex items-center gap-2">
        <FindBox key={filters.view} what="the inbox" text={filters.q} onFind={find} />
        <nav aria-label="Views" className="flex shrink-0 rounded border border-line bg-panel p-0.5">
          <ViewLink filters={filters} view={undefined} name="Waiting" />
          {(inbox.asleep > 0 || filters.view === 'snoozed') && (
            <ViewLink filters={filters} view="snoozed" name={`Snoozed ${inbox.asleep}`} />
          )}
          <ViewLink filters={filters} view="decided" name="Decided" />
        </nav>
      </div>
    </div>
  )
}

type PillProps = { chip: KindChip; filters: InboxFilters; hasCount: boolean }

function Pill({ chip, filters, hasCount }: PillProps) {
  const { kind: _, ...others } = filters
  const isOn = filters.kind === chip.kind
  return (
    <Link
      to="/inbox"
      search={{ ...others, ...(chip.kind !== undefined && { kind: chip.kind }) }}
      activeOptions={{ exact: true, includeSearch: true }}
      aria-current={isOn ? 'page' : undefined}
      className={`flex h-6 shrink-0 items-center rounded-full border px-2.25 text-xs max-md:h-8 max-md:px-3 ${
        isOn ? 'border-text bg-text text-bg' : 'border-line text-soft hover:border-edge'
      }`}
    >
      {chip.label}
      {hasCount && ` ${number.format(chip.count)}`}
    </Link>
  )
}

type ViewProps = { filters: InboxFilters; view: View | undefined; name: string }

function ViewLink({ filters, view, name }: ViewProps) {
  const { view: _, ...others } = filters
  const isOn = filters.view === view
  return (
    <Link
      to="/inbox"
      search={{ ...others, ...(view && { view }) }}
      activeOptions={{ exact: true, includeSearch: true }}
      aria-current={isOn ? 'page' : undefined}
      className={`rounded-sm px-2 text-xs leading-5.5 max-md:leading-8 ${
        isOn ? 'bg-raised font-[550] text-text' : 'text-soft hover:text-text'
      }`}
    >
      {name}
    </Link>
  )
}
