import { Link, useNavigate } from '@tanstack/react-router'
import { buildChips, allKinds } from './filter.ts'
import type { InboxFilters, KindChip, View } from './filter.ts'
import { SearchBox } from '../shared/FindBox.tsx'
import { ViewSwitch } from '../shared/ViewSwitch.tsx'
import type { Inbox } from './use-inbox.ts'
import { KeyHint } from '../shared/Keys.tsx'
import { Button, IconButton } from '../shared/Button.tsx'

const number = new Intl.NumberFormat()

export function InboxBar({ filters, inbox }: { filters: InboxFilters; inbox: Inbox }) {
  const { view, ...others } = filters
  const isWaiting = view === undefined
  const shows = (value: View, name: string) => ({
    name,
    isOn: view === value,
    search: { ...others, view: value },
  })
  const navigate = useNavigate()
  const find = (q: string) => {
    const { q: _, ...rest } = filters
    void navigate({ to: '.', search: { ...rest, ...(q !== '' && { q }) }, replace: true })
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2 border-b border-line px-4 py-2.5">
      <nav
        aria-label="Kinds"
        className="-mx-4 -my-1 flex gap-1.5 overflow-x-auto px-4 py-1 [scrollbar-width:none]"
      >
        {buildChips(isWaiting ? inbox.counts : allKinds, filters.kind).map((chip) => (
          <Pill key={chip.kind ?? 'all'} chip={chip} filters={filters} hasCount={isWaiting} />
        ))}
      </nav>
      <div className="flex items-center gap-2">
        <SearchBox key={view} what="the inbox" text={filters.q} onFind={find} />
        <ViewSwitch
          label="Views"
          to="/inbox"
          views={[
            { name: 'Pending', isOn: isWaiting, search: others },
            ...(inbox.snoozedCount > 0 || view === 'snoozed'
              ? [shows('snoozed', `Snoozed ${inbox.snoozedCount}`)]
              : []),
            shows('decided', 'Decided'),
          ]}
        />
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

const hints = [
  ['j', 'next'],
  ['Enter', 'open'],
  ['x', 'select'],
  ['a', 'approve'],
  ['?', 'all shortcuts'],
] as const

export function EmptyDetail({ inbox }: { inbox: Inbox }) {
  const { all = 0 } = inbox.counts
  if (inbox.status !== 'success' || all === 0) return <div className="flex-1 max-md:hidden" />
  return (
    <section
      aria-label="No item selected"
      className="grid min-w-0 flex-1 place-content-center justify-items-center gap-4 p-6 text-center text-soft max-md:hidden"
    >
      <p>{all} pending</p>
      <ul className="flex flex-wrap justify-center gap-x-4 gap-y-2 text-xs text-faint">
        {hints.map(([keys, does]) => (
          <li key={keys} className="flex items-center gap-1.5">
            <KeyHint combo={keys} />
            {does}
          </li>
        ))}
      </ul>
    </section>
  )
}

type Props = {
  count: number
  mayDecide: boolean
  isBusy: boolean
  onApprove: () => void
  onDeny: () => void
  onSnooze: () => void
  onClear: () => void
}

/** Bulk decisions: each is recorded separately, and none creates a standing permission. */
export const SelectionBar = (props: Props) => (
  <div
    role="group"
    aria-label="Selected"
    className="settle flex flex-wrap items-center gap-1.5 border-t border-line bg-panel px-4 py-2.5"
  >
    <p role="status" className="mr-auto font-[550] whitespace-nowrap">
      {props.count} selected
    </p>
    {props.mayDecide && (
      <>
        <Button tone="primary" size="sm" keys="a" disabled={props.isBusy} onClick={props.onApprove}>
          Approve
        </Button>
        <Button size="sm" keys="d" disabled={props.isBusy} onClick={props.onDeny}>
          Reject
        </Button>
      </>
    )}
    <Button size="sm" keys="s" className="max-md:hidden" onClick={props.onSnooze}>
      Snooze
    </Button>
    <IconButton icon="cross" label="Clear selection" onClick={props.onClear} />
  </div>
)
