import { Link } from '@tanstack/react-router'
import { memo, useState } from 'react'
import type { MouseEvent, ReactNode } from 'react'
import { kindLabel } from './filter.ts'
import type { InboxFilters } from './filter.ts'
import { summarizeAccess, commonAccess } from './grant.ts'
import { formatChecksLine } from './check.ts'
import { findTargetId } from './row.ts'
import type { ChecksRow, GroupRow, ItemRow, Row } from './row.ts'
import { formatAge, commonSummary } from './text.ts'
import { Ago } from '../shared/Ago.tsx'
import { Chip, ModeChip } from '../shared/Chips.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { AccessLine, KindIcon, Meta } from './Meta.tsx'
import type { Selection } from './use-selection.ts'

/** Highlights rows younger than this when they appear. */
const highlightMs = 3000

const rowClass =
  'grid h-full w-full grid-cols-[16px_minmax(0,1fr)_auto] content-center gap-x-2.5 gap-y-1 border-b border-line pr-4 text-left text-soft -outline-offset-2 in-data-[density=compact]:gap-y-0'

type Props = {
  row: ItemRow
  /** When the list was opened; only later items are new. */
  since: number
  isCurrent: boolean
  isPicked: boolean
  hasPicks: boolean
  filters: InboxFilters
  /** Absent in the view of decided items. */
  picks: Selection | undefined
}

export const InboxRow = memo(
  function InboxRow(props: Props) {
    const { row, since, isCurrent, isPicked, filters, picks } = props
    const { item, isMember } = row
    const at = Date.parse(item.created_at)
    const access = summarizeAccess(item)
    const isWaiting = item.status === 'pending' && !item.held
    const [arrives] = useState(() => at > since && Date.now() - at < highlightMs)
    const extend = (event: MouseEvent) => {
      if (!event.shiftKey || !picks) return
      event.preventDefault()
      picks.extend(row)
    }
    const ground = isCurrent
      ? 'bg-accent-bg shadow-[inset_2px_0_var(--accent)]'
      : isPicked
        ? 'bg-raised'
        : 'hover:bg-raised'
    return (
      <SelectableRow {...props} name={item.summary} icon={<KindIcon kind={item.kind} />}>
        <Link
          to="/inbox/$id"
          params={{ id: item.id }}
          search={filters}
          data-row={row.key}
          onClick={extend}
          className={`${rowClass} ${isMember ? 'pl-10' : 'pl-4'} ${ground} ${arrives ? 'arrive' : ''}`}
        >
          <span className="sr-only">{kindLabel(item.kind)}</span>
          <RequesterLine requester={item.requester} domain={item.domain} at={item.created_at} />
          <span className={`col-span-2 col-start-2 truncate ${isWaiting ? 'text-text' : ''}`}>
            {access ? <AccessLine {...access} /> : <SafeText text={item.summary} />}
          </span>
          <span className="col-span-2 col-start-2 flex h-4.5 min-w-0 flex-wrap items-center gap-x-2.5 overflow-hidden text-xs whitespace-nowrap">
            <Meta item={item} />
          </span>
        </Link>
      </SelectableRow>
    )
  },
  (a, b) =>
    a.row.item === b.row.item &&
    a.row.isMember === b.row.isMember &&
    a.isCurrent === b.isCurrent &&
    a.isPicked === b.isPicked &&
    a.hasPicks === b.hasPicks &&
    a.filters === b.filters &&
    a.picks === b.picks,
)

type GroupProps = {
  row: GroupRow
  isPicked: boolean
  hasPicks: boolean
  picks: Selection | undefined
  onToggle: () => void
}

/** A collapsible group of similar items. */
export function GroupListRow(props: GroupProps) {
  const { row, isPicked, onToggle } = props
  const [first] = row.items
  const strictest = row.items.find(({ mode }) => mode === 'escalate') ?? first
  const high = row.items.filter(({ risk }) => risk === 'high').length
  const access = commonAccess(row.items)
  return (
    <SelectableRow
      {...props}
      name={`${row.items.length} similar`}
      icon={<KindIcon kind={first.kind} />}
    >
      <button
        type="button"
        aria-expanded={row.isOpen}
        data-row={row.key}
        onClick={onToggle}
        className={`${rowClass} pl-4 ${isPicked ? 'bg-raised' : 'hover:bg-raised'}`}
      >
        <span className="sr-only">{kindLabel(first.kind, 'many')}</span>
        <RequesterLine requester={first.requester} domain={first.domain} at={first.created_at} />
        <span className="col-span-2 col-start-2 truncate text-text">
          {access ? (
            <AccessLine {...access} says={`${row.items.length} similar: ${access.says}`} />
          ) : (
            <>
              {row.items.length} similar: <SafeText text={commonSummary(row.items)} />
            </>
          )}
        </span>
        <span className="col-span-2 col-start-2 flex h-4.5 items-center gap-2.5 overflow-hidden text-xs whitespace-nowrap">
          <ModeChip mode={strictest.mode} trust={strictest.trust_level} />
          {high > 0 && <span>{high === row.items.length ? 'high risk' : `${high} high risk`}</span>}
          <span className="ml-auto flex items-center gap-1">
            {row.isOpen ? 'Collapse' : 'Expand'}
            <Icon name="right" size={12} className={row.isOpen ? 'rotate-90' : ''} />
          </span>
        </span>
      </button>
    </SelectableRow>
  )
}

type ChecksProps = { row: ChecksRow; isCurrent: boolean; filters: InboxFilters }

/** The checks of one agent or look-back; each check is answered separately. */
export function ChecksLine({ row, isCurrent, filters }: ChecksProps) {
  const { items, key } = row
  const [first] = items
  const waiting = items.filter(({ status }) => status === 'pending')
  const high = waiting.filter(({ risk }) => risk === 'high').length
  const domains = new Set(items.map(({ domain }) => domain))
  const ground = isCurrent ? 'bg-accent-bg shadow-[inset_2px_0_var(--accent)]' : 'hover:bg-raised'
  return (
    <SelectableRow
      row={row}
      name=""
      icon={<KindIcon kind={first.kind} />}
      isPicked={false}
      hasPicks={false}
      picks={undefined}
    >
      <Link
        to="/inbox/$id"
        params={{ id: findTargetId(row) ?? first.id }}
        search={filters}
        data-row={key}
        className={`${rowClass} pl-4 ${ground}`}
      >
        <span className="sr-only">
          {kindLabel(first.kind, items.length === 1 ? 'one' : 'many')}
        </span>
        <RequesterLine
          requester={first.requester}
          domain={domains.size === 1 ? first.domain : `${domains.size} domains`}
          at={first.created_at}
        />
        <span
          className={`col-span-2 col-start-2 truncate ${waiting.length > 0 ? 'text-text' : ''}`}
        >
          <SafeText text={formatChecksLine(items)} />
        </span>
        <span className="col-span-2 col-start-2 flex h-4.5 items-center gap-2.5 overflow-hidden text-xs whitespace-nowrap">
          {waiting.length === 0 ? (
            <Chip tone="act" icon="check">
              All answered
            </Chip>
          ) : (
            <span>
              {first.look_back === undefined
                ? 'autonomous, checked afterwards'
                : 'autonomous, before the mistake was found'}
            </span>
          )}
          {high > 0 && <span>{high === waiting.length ? 'high risk' : `${high} high risk`}</span>}
        </span>
      </Link>
    </SelectableRow>
  )
}

const RequesterLine = ({
  requester,
  domain,
  at,
}: {
  requester: string
  domain: string
  at: string
}) => (
  <>
    <b className="col-start-2 truncate text-text">
      <SafeText text={requester} /> · <SafeText text={domain} />
    </b>
    <Ago at={at} format={formatAge} className="shrink-0 text-xs leading-5" />
  </>
)

type SelectableRowProps = {
  row: Row
  name: string
  icon: ReactNode
  isPicked: boolean
  hasPicks: boolean
  picks: Selection | undefined
  children: ReactNode
}

/** The icon of a row is its checkbox; the row itself opens the item. */
function SelectableRow({
  row,
  name,
  icon,
  isPicked,
  hasPicks,
  picks,
  children,
}: SelectableRowProps) {
  const place = `absolute top-1 grid size-8 place-items-center rounded in-data-[density=compact]:-top-0.5 ${
    row.kind === 'item' && row.isMember ? 'left-8' : 'left-2'
  }`
  return (
    <div className="group/row relative h-full">
      {children}
      {picks ? (
        <button
          type="button"
          role="checkbox"
          aria-checked={isPicked}
          aria-label={`Select ${sanitizeText(name)}`}
          onClick={(event) => (event.shiftKey ? picks.extend(row) : picks.toggle(row))}
          className={`group/pick ${place}`}
        >
          <span
            className={`text-soft ${hasPicks ? 'hidden' : 'group-hover/row:hidden group-focus-visible/pick:hidden'}`}
          >
            {icon}
          </span>
          <Checkbox isPicked={isPicked} isShown={hasPicks} />
        </button>
      ) : (
        <span className={`pointer-events-none text-soft ${place}`}>{icon}</span>
      )}
    </div>
  )
}

const Checkbox = ({ isPicked, isShown }: { isPicked: boolean; isShown: boolean }) => (
  <span
    className={`size-4 place-items-center rounded-sm border ${
      isPicked ? 'border-accent bg-accent text-on-accent' : 'border-edge bg-panel'
    } ${isShown ? 'grid' : 'hidden group-hover/row:grid group-focus-visible/pick:grid'}`}
  >
    {isPicked && <Icon name="check" size={12} />}
  </span>
)
