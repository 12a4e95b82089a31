import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../shared/Button.tsx'
import { Awaited, Empty } from '../shared/States.tsx'
import { useRefetch } from '../api/use-entries.ts'
import { rankOf } from './board.ts'
import { changes } from './entry-match.ts'
import type { BacklogItem } from './work.ts'
import { BacklogDialog } from './BacklogDialog.tsx'
import { BacklogLine } from './BacklogLine.tsx'
import { StaleNote } from './StaleNote.tsx'
import { useWork } from './work-context.ts'
import { backlogQuery } from './work-queries.ts'
import { WorkBar } from './WorkBar.tsx'

export function BacklogPage() {
  const { project, mayChange } = useWork()
  const [isAdding, setAdding] = useState(false)
  const query = useQuery(backlogQuery(project))
  const { data } = query
  useRefetch((entry) => changes(entry, project, 'backlog'), backlogQuery(project))
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
        <Awaited query={query} what="the backlog" rows={8} />
      ) : data.items.length === 0 ? (
        <Empty icon="inbox" title="The backlog is empty">
          <p>What should be done some day waits here, until it goes into a sprint.</p>
          {add}
        </Empty>
      ) : (
        <Items items={data.items} isWhole={data.isWhole} />
      )}
      {isAdding && <BacklogDialog onClose={() => setAdding(false)} />}
    </>
  )
}

function Items({ items, isWhole }: { items: readonly BacklogItem[]; isWhole: boolean }) {
  const sorted = items.toSorted((a, b) => rankOf(a.priority) - rankOf(b.priority))
  const [open, done] = [
    sorted.filter(({ status }) => status !== 'done'),
    sorted.filter(({ status }) => status === 'done'),
  ]
  return (
    <div className="scroll-thin min-h-0 flex-1 overflow-y-auto px-5 py-3 max-md:px-4">
      {open.length > 0 ? (
        <ul aria-label="Backlog, the most urgent first" className="border-t border-line">
          {open.map((item) => (
            <BacklogLine key={item.id} item={item} />
          ))}
        </ul>
      ) : (
        <p className="py-2 text-soft">All of it is done.</p>
      )}
      {done.length > 0 && (
        <details className="pt-3">
          <summary className="py-1 text-soft">Done ({done.length})</summary>
          <ul aria-label="Done" className="mt-1 border-t border-line">
            {done.map((item) => (
              <BacklogLine key={item.id} item={item} />
            ))}
          </ul>
        </details>
      )}
      {!isWhole && (
        <p className="pt-3 text-xs text-faint">
          These are the first {items.length}; the search finds the others.
        </p>
      )}
    </div>
  )
}
