import { getRouteApi, useNavigate, useParams } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { isEditable, isReturnable } from './approval.ts'
import type { Item } from './approval.ts'
import { findTargetId } from './row.ts'
import type { Row } from './row.ts'
import { useQueue } from './queue.ts'
import { useOpenKeys } from '../shared/use-open-keys.ts'
import { useKeys } from '../shared/use-keys.ts'
import { meQuery, queryClient } from '../api/queries.ts'
import { approvalQuery } from './approval-queries.ts'
import { ActionDialog } from './dialog/ActionDialog.tsx'
import { InboxBar, EmptyDetail, SelectionBar } from './InboxBars.tsx'
import { InboxList } from './InboxList.tsx'
import { ItemDetail } from './item/ItemDetail.tsx'
import { ResultSummary } from './OutcomeStrip.tsx'
import { useActions } from './use-actions.ts'
import type { ActionName } from './use-actions.ts'
import { cursorKey } from './use-cursor.ts'
import { listItems, useInbox } from './use-inbox.ts'
import { useSelection } from './use-selection.ts'

const route = getRouteApi('/inbox')

/** The queue and the open item, side by side; on a phone one at a time. */
export function InboxPage() {
  const filters = route.useSearch()
  const { id: current } = useParams({ strict: false })
  const navigate = useNavigate()
  const { open, toggle, unfold } = useOpenKeys()
  const inbox = useInbox({ filters, current, open })
  const { rows } = inbox
  const { picked, picks } = useSelection(rows)
  const acts = useActions(rows, current, picks.clear)
  const known = useQueue().items
  const role = useQuery(meQuery).data?.person.role
  const mayDecide = role !== undefined && role !== 'viewer'

  const rowAtCursor = () => {
    const key = cursorKey(rows, current)
    return rows.find((row) => row.key === key)
  }
  /** Returns the items that a key applies to: the selection, or the row at the cursor. */
  const targets = (): readonly Item[] => {
    if (picked.size > 0) return listItems(rows).filter(({ id }) => picked.has(id))
    const row = rowAtCursor()
    if (row?.kind === 'item') return [row.item]
    if (row?.kind === 'checks') return row.items
    if (row !== undefined || current === undefined) return []
    // The open item can be loaded before the list.
    const item = known.get(current) ?? queryClient.getQueryData(approvalQuery(current).queryKey)
    return item ? [item] : []
  }
  /** The first key press on a group only expands and selects it, so that nothing is decided unseen. */
  const decided = (act: (items: readonly Item[]) => void) => () => {
    const row = rowAtCursor()
    if (picked.size === 0 && row?.kind === 'checks') return openRow(row)
    shown(act)()
  }
  const shown = (act: (items: readonly Item[]) => void) => () => {
    const row = rowAtCursor()
    if (picked.size === 0 && row?.kind === 'group') {
      unfold(row.key)
      return picks.pick(row)
    }
    act(targets())
  }
  const one = (name: ActionName, isFit: (item: Item) => boolean) => () => {
    const [item, ...others] = targets()
    if (item && others.length === 0 && isFit(item)) acts.start(name, [item])
  }
  const openRow = (row: Row) => {
    const id = findTargetId(row)
    if (id !== undefined && id !== current)
      void navigate({ to: '/inbox/$id', params: { id }, search: true })
  }
  const close = () => void navigate({ to: '/inbox', search: true })
  const readsChecks = current !== undefined && known.get(current)?.kind === 'spot_check'
  useKeys({
    x: () => {
      const row = rowAtCursor()
      if (row && row.kind !== 'checks' && filters.view !== 'decided') picks.toggle(row)
    },
    s: shown((items) => acts.start('snooze', items)),
    // Before the role is known, the daemon checks permissions. Open checks bind their own keys.
    ...(role !== 'viewer' &&
      !(readsChecks && picked.size === 0) && {
        a: decided(acts.approve),
        d: decided((items) => acts.start('deny', items)),
        e: one('edit', isEditable),
        r: one('hand_back', isReturnable),
      }),
    ...(picked.size > 0 ? { Escape: picks.clear } : current !== undefined ? { Escape: close } : {}),
  })

  return (
    <div className="flex h-full">
      <section
        aria-label="Inbox"
        className={`flex w-[40%] min-w-85 shrink-0 flex-col border-r border-line max-md:w-full max-md:min-w-0 max-md:border-0 ${
          current === undefined ? '' : 'max-md:hidden'
        }`}
      >
        <InboxBar filters={filters} inbox={inbox} />
        {acts.report && <ResultSummary report={acts.report} onClose={acts.clearReport} />}
        <InboxList
          inbox={inbox}
          filters={filters}
          current={current}
          picked={picked}
          picks={picks}
          onToggleGroup={toggle}
        />
        {picked.size > 0 && (
          <SelectionBar
            count={picked.size}
            mayDecide={mayDecide}
            isBusy={acts.isBusy}
            onApprove={() => acts.approve(targets())}
            onDeny={() => acts.start('deny', targets())}
            onSnooze={() => acts.start('snooze', targets())}
            onClear={picks.clear}
          />
        )}
      </section>
      {current === undefined ? (
        <EmptyDetail inbox={inbox} />
      ) : (
        <ItemDetail key={current} id={current} acts={acts} mayDecide={mayDecide} />
      )}
      {acts.pending && <ActionDialog pending={acts.pending} acts={acts} />}
    </div>
  )
}
