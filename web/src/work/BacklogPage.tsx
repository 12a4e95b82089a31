import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import { Button, IconButton, textLink } from '../shared/Button.tsx'
import { QueryState, EmptyState } from '../shared/States.tsx'
import { useRefetch } from '../api/use-entries.ts'
import { priorityRank, openSprints } from './board.ts'
import { affectsKind } from './entry-match.ts'
import type { BacklogItem } from './work.ts'
import { BacklogDialog } from './ItemDialogs.tsx'
import { StaleNote, WorkBar } from './WorkBar.tsx'
import { useWork, useView } from './work-context.ts'
import { backlogQuery, sprintsQuery, itemQuery } from './work-queries.ts'
import { call } from '../api/client.ts'
import { Menu } from '../shared/Menu.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import { sprintLabel } from './text.ts'
import { ConfirmDialog, Dialog, DialogActions } from '../shared/Dialog.tsx'
import { BacklogChip, PriorityChip } from './StatusChips.tsx'
import { BacklogText } from './StoryParts.tsx'

export function BacklogPage() {
  const { project, mayChange } = useWork()
  const [isAdding, setAdding] = useState(false)
  const query = useQuery(backlogQuery(project))
  const { data } = query
  useRefetch((entry) => affectsKind(entry, project, 'backlog'), backlogQuery(project))
  const add = mayChange && (
    <Button size="sm" icon="plus" className="ml-auto" onClick={() => setAdding(true)}>
      Add to the backlog
    </Button>
  )
  return (
    <>
      <WorkBar>{data && data.items.length > 0 && add}</WorkBar>
      {data?.isStale && <StaleNote />}
      {!data ? (
        <QueryState query={query} what="the backlog" rows={8} />
      ) : data.items.length === 0 ? (
        <EmptyState icon="inbox" title="Backlog is empty">
          <p>Tasks without a sprint appear here.</p>
          {add}
        </EmptyState>
      ) : (
        <BacklogList items={data.items} isWhole={data.isWhole} />
      )}
      {isAdding && <BacklogDialog onClose={() => setAdding(false)} />}
    </>
  )
}

function BacklogList({ items, isWhole }: { items: readonly BacklogItem[]; isWhole: boolean }) {
  const sorted = items.toSorted((a, b) => priorityRank(a.priority) - priorityRank(b.priority))
  const [open, done] = [
    sorted.filter(({ status }) => status !== 'done'),
    sorted.filter(({ status }) => status === 'done'),
  ]
  return (
    <div className="scroll-thin min-h-0 flex-1 overflow-y-auto px-5 py-3 max-md:px-4">
      {open.length > 0 ? (
        <ul aria-label="Backlog by priority" className="border-t border-line">
          {open.map((item) => (
            <BacklogRow key={item.id} item={item} />
          ))}
        </ul>
      ) : (
        <p className="py-2 text-soft">All items are done.</p>
      )}
      {done.length > 0 && (
        <details className="pt-3">
          <summary className="py-1 text-soft">Done ({done.length})</summary>
          <ul aria-label="Done" className="mt-1 border-t border-line">
            {done.map((item) => (
              <BacklogRow key={item.id} item={item} />
            ))}
          </ul>
        </details>
      )}
      {!isWhole && (
        <p className="pt-3 text-xs text-faint">
          First {items.length} items. Search to find others.
        </p>
      )}
    </div>
  )
}

function BacklogRow({ item }: { item: BacklogItem }) {
  const view = useView()
  const { project, mayChange } = useWork()
  const [openDialog, setOpenDialog] = useState<'show' | 'edit' | 'remove'>()
  const close = () => setOpenDialog(undefined)
  const about = { project, item_id: item.id, expect_rev: item.rev }
  return (
    <li className="flex items-center gap-3 border-b border-line py-2.5">
      <div className="grid min-w-0 flex-1 gap-1">
        <button
          type="button"
          aria-haspopup="dialog"
          className="rounded text-left break-words hover:underline"
          onClick={() => setOpenDialog('show')}
        >
          <SafeText text={item.summary} />
        </button>
        <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-xs text-soft">
          <BacklogChip status={item.status} />
          {item.priority && <PriorityChip priority={item.priority} />}
          <SafeText as="span" className="font-mono break-all" text={item.id} />
          {item.theme && <SafeText text={item.theme} />}
          {item.promoted_to !== undefined && (
            <Link to="." search={{ ...view, story: item.promoted_to }} className={textLink}>
              now <SafeText text={item.promoted_to} />
            </Link>
          )}
        </p>
      </div>
      {mayChange && item.promoted_to === undefined && item.status !== 'done' && (
        <MoveToSprint item={item} />
      )}
      {mayChange && (
        <Menu
          trigger={<IconButton icon="more" label={`Actions for ${sanitizeText(item.id)}`} />}
          items={[
            { label: 'Edit', icon: 'edit', act: () => setOpenDialog('edit') },
            { label: 'Remove', icon: 'cross', danger: true, act: () => setOpenDialog('remove') },
          ]}
        />
      )}
      {openDialog === 'show' && (
        <BacklogDetail item={item} onEdit={() => setOpenDialog('edit')} onClose={close} />
      )}
      {openDialog === 'edit' && <BacklogDialog item={item} onClose={close} />}
      {openDialog === 'remove' && (
        <ConfirmDialog
          title="Remove from the backlog?"
          action="Remove"
          act={() => call('worksync_remove_backlog', about)}
          done="Removed from the backlog."
          onClose={close}
        >
          <SafeText as="p" className="break-words text-text" text={item.summary} />
          <p>The ledger keeps the item. Its text stays in BACKLOG/.</p>
        </ConfirmDialog>
      )}
    </li>
  )
}

function MoveToSprint({ item }: { item: BacklogItem }) {
  const { project } = useWork()
  const sprints = useQuery(sprintsQuery(project)).data ?? []
  const open = openSprints(sprints)
  const promote = (sprint: string) =>
    call('worksync_move', {
      project,
      item_id: item.id,
      sprint_id: sprint,
      expect_rev: item.rev,
    }).then(({ story }) => toast(`Moved to the sprint as ${sanitizeText(story.id)}.`), toastProblem)
  return open.length === 0 ? null : (
    <Menu
      trigger={
        <Button size="sm" icon="call" aria-label={`Move to a sprint: ${sanitizeText(item.id)}`}>
          <span className="max-md:sr-only">Move to a sprint</span>
        </Button>
      }
      items={open.map((sprint) => ({
        label: sanitizeText(sprintLabel(sprint, sprints)),
        act: () => void promote(sprint.id),
      }))}
    />
  )
}

type Props = { item: BacklogItem; onEdit: () => void; onClose: () => void }

function BacklogDetail({ item, onEdit, onClose }: Props) {
  const { project, mayChange } = useWork()
  const query = itemQuery(project, item.id)
  const itemResult = useQuery(query)
  const { data } = itemResult
  useRefetch((entry) => affectsKind(entry, project, 'backlog'), query)
  return (
    <Dialog title={sanitizeText(item.id)} onClose={onClose} wide>
      <SafeText as="p" className="break-words" text={item.summary} />
      {!data ? (
        <QueryState query={itemResult} what="the text" rows={3} />
      ) : data.text === undefined && data.text_note === undefined ? (
        <p className="text-soft">No text</p>
      ) : (
        <BacklogText item={data} />
      )}
      <DialogActions>
        {mayChange && <Button onClick={onEdit}>Edit</Button>}
        <Button onClick={onClose}>Close</Button>
      </DialogActions>
    </Dialog>
  )
}
