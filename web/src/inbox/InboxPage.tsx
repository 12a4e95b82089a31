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
  const { selectedIds, selection } = useSelection(rows)
  const actions = useActions(rows, current, selection.clear)
  const known = useQueue().items
  const role = useQuery(meQuery).data?.person.role
  const canDecide = role !== undefined && role !== 'viewer'

  const rowAtCursor = () => {
    const key = cursorKey(rows, current)
    return rows.find((row) => row.key === key)
  }
  /** Returns the items that a key applies to: the selection, or the row at the cursor. */
  const targets = (): readonly Item[] => {
    if (selectedIds.size > 0) return listItems(rows).filter(({ id }) => selectedIds.has(id))
    const row = rowAtCursor()
    if (row?.kind === 'item') return [row.item]
    if (row?.kind === 'checks') return row.items
    if (row !== undefined || current === undefined) return []
    // The open item can be loaded before the list.
    const item = known.get(current) ?? queryClient.getQueryData(approvalQuery(current).queryKey)
    return item ? [item] : []
  }
  /** The first key press on a group only expands and selects it, so that nothing is decided unseen. */
  const onDecision = (act: (items: readonly Item[]) => void) => () => {
    const row = rowAtCursor()
    if (selectedIds.size === 0 && row?.kind === 'checks') return openRow(row)
    onTargets(act)()
  }
  const onTargets = (act: (items: readonly Item[]) => void) => () => {
    const row = rowAtCursor()
    if (selectedIds.size === 0 && row?.kind === 'group') {
      unfold(row.key)
      return selection.pick(row)
    }
    act(targets())
  }
  const onSingleTarget = (name: ActionName, isFit: (item: Item) => boolean) => () => {
    const [item, ...others] = targets()
    if (item && others.length === 0 && isFit(item)) actions.start(name, [item])
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
      if (row && row.kind !== 'checks' && filters.view !== 'decided') selection.toggle(row)
    },
    s: onTargets((items) => actions.start('snooze', items)),
    // Before the role is known, the daemon checks permissions. Open checks bind their own keys.
    ...(role !== 'viewer' &&
      !(readsChecks && selectedIds.size === 0) && {
        a: onDecision(actions.approve),
        d: onDecision((items) => actions.start('deny', items)),
        e: onSingleTarget('edit', isEditable),
        r: onSingleTarget('hand_back', isReturnable),
      }),
    ...(selectedIds.size > 0
      ? { Escape: selection.clear }
      : current !== undefined
        ? { Escape: close }
        : {}),
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
        {actions.report && <ResultSummary report={actions.report} onClose={actions.clearReport} />}
        <InboxList
          inbox={inbox}
          filters={filters}
          current={current}
          picked={selectedIds}
          picks={selection}
          onToggleGroup={toggle}
        />
        {selectedIds.size > 0 && (
          <SelectionBar
            count={selectedIds.size}
            mayDecide={canDecide}
            isBusy={actions.isBusy}
            onApprove={() => actions.approve(targets())}
            onDeny={() => actions.start('deny', targets())}
            onSnooze={() => actions.start('snooze', targets())}
            onClear={selection.clear}
          />
        )}
      </section>
      {current === undefined ? (
        <EmptyDetail inbox={inbox} />
      ) : (
        <ItemDetail key={current} id={current} actions={actions} mayDecide={canDecide} />
      )}
      {actions.pending && <ActionDialog pending={actions.pending} acts={actions} />}
    </div>
  )
}
