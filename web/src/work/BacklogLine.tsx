import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { Button, IconButton } from '../shared/Button.tsx'
import { Menu } from '../shared/Menu.tsx'
import { Plain } from '../shared/Plain.tsx'
import { plainString } from '../shared/plain.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import { openSprints } from './board.ts'
import { sprintLabel } from './text.ts'
import type { BacklogItem } from './work.ts'
import { Confirm } from '../shared/FormDialog.tsx'
import { BacklogDetail } from './BacklogDetail.tsx'
import { BacklogDialog } from './BacklogDialog.tsx'
import { BacklogChip, PriorityChip } from './Looks.tsx'
import { useView, useWork } from './work-context.ts'
import { sprintsQuery } from './work-queries.ts'

export function BacklogLine({ item }: { item: BacklogItem }) {
  const view = useView()
  const { project, mayChange } = useWork()
  const [asked, setAsked] = useState<'show' | 'edit' | 'remove'>()
  const close = () => setAsked(undefined)
  const about = { project, item_id: item.id, expect_rev: item.rev }
  return (
    <li className="flex items-center gap-3 border-b border-line py-2.5">
      <div className="grid min-w-0 flex-1 gap-1">
        <button
          type="button"
          aria-haspopup="dialog"
          className="rounded text-left break-words hover:underline"
          onClick={() => setAsked('show')}
        >
          <Plain text={item.summary} />
        </button>
        <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-xs text-soft">
          <BacklogChip status={item.status} />
          {item.priority && <PriorityChip priority={item.priority} />}
          <span className="font-mono break-all">
            <Plain text={item.id} />
          </span>
          {item.theme && <Plain text={item.theme} />}
          {item.promoted_to !== undefined && (
            <Link
              to="."
              search={{ ...view, story: item.promoted_to }}
              className="underline decoration-line underline-offset-3 hover:decoration-current"
            >
              now <Plain text={item.promoted_to} />
            </Link>
          )}
        </p>
      </div>
      {mayChange && item.promoted_to === undefined && item.status !== 'done' && (
        <IntoSprint item={item} />
      )}
      {mayChange && (
        <Menu
          trigger={<IconButton icon="more" label={`More about ${plainString(item.id)}`} />}
          items={[
            { label: 'Edit', icon: 'edit', act: () => setAsked('edit') },
            { label: 'Remove', icon: 'cross', danger: true, act: () => setAsked('remove') },
          ]}
        />
      )}
      {asked === 'show' && (
        <BacklogDetail item={item} onEdit={() => setAsked('edit')} onClose={close} />
      )}
      {asked === 'edit' && <BacklogDialog item={item} onClose={close} />}
      {asked === 'remove' && (
        <Confirm
          title="Remove it from the backlog?"
          action="Remove"
          act={() => call('worksync_remove_backlog', about)}
          done="It is off the backlog."
          onClose={close}
        >
          <p className="break-words text-text">
            <Plain text={item.summary} />
          </p>
          <p>The ledger keeps what it was, and its text stays in BACKLOG/.</p>
        </Confirm>
      )}
    </li>
  )
}

/** Makes it a story of a sprint. */
function IntoSprint({ item }: { item: BacklogItem }) {
  const { project } = useWork()
  const sprints = useQuery(sprintsQuery(project)).data ?? []
  const open = openSprints(sprints)
  const promote = (sprint: string) =>
    call('worksync_move', {
      project,
      item_id: item.id,
      sprint_id: sprint,
      expect_rev: item.rev,
    }).then(({ story }) => toast(`It is ${plainString(story.id)} now.`), toastProblem)
  return open.length === 0 ? null : (
    <Menu
      trigger={
        <Button size="sm" icon="call" aria-label={`Into a sprint: ${plainString(item.id)}`}>
          <span className="max-md:sr-only">Into a sprint</span>
        </Button>
      }
      items={open.map((sprint) => ({
        label: plainString(sprintLabel(sprint, sprints)),
        act: () => void promote(sprint.id),
      }))}
    />
  )
}
