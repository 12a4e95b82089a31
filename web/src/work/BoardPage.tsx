import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useKeys } from '../shared/use-keys.ts'
import { Button } from '../shared/Button.tsx'
import { Meter } from '../shared/Meter.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { QueryState, EmptyState, QueryContent } from '../shared/States.tsx'
import { useRefetch } from '../api/use-entries.ts'
import { getProgress, selectSprint } from './board.ts'
import { affectsKind } from './entry-match.ts'
import type { Card, Sprint } from './work.ts'
import { Board } from './Board.tsx'
import { NewSprint } from './SprintDialogs.tsx'
import { SprintPicker } from './SprintPicker.tsx'
import { StaleNote, WorkBar } from './WorkBar.tsx'
import { StoryDialog } from './ItemDialogs.tsx'
import { useView, useWork } from './work-context.ts'
import { boardQuery, sprintsQuery } from './work-queries.ts'

export function BoardPage() {
  const { project } = useWork()
  const { sprint: asked } = useView()
  const query = useQuery(sprintsQuery(project))
  const { data: sprints } = query
  useRefetch((entry) => affectsKind(entry, project, 'sprint'), sprintsQuery(project))
  if (!sprints) return <QueryState query={query} what="sprints" rows={8} />
  const sprint = selectSprint(sprints, asked)
  return sprint ? (
    <SprintBoard key={sprint.id} sprint={sprint} sprints={sprints} />
  ) : (
    <>
      <WorkBar />
      <NoSprint />
    </>
  )
}

function SprintBoard({ sprint, sprints }: { sprint: Sprint; sprints: readonly Sprint[] }) {
  const { project, mayChange } = useWork()
  const [isAdding, setAdding] = useState(false)
  const query = boardQuery(project, sprint.id)
  const shown = useQuery(query)
  const { data: board } = shown
  useRefetch((entry) => affectsKind(entry, project, 'story'), query)
  useKeys(mayChange ? { n: () => setAdding(true) } : {})
  return (
    <>
      <WorkBar>
        <SprintPicker sprint={sprint} sprints={sprints} stories={board?.stories} />
        {board && <Progress stories={board.stories} />}
        {mayChange && (
          <Button size="sm" icon="plus" className="ml-auto" onClick={() => setAdding(true)}>
            New story
          </Button>
        )}
      </WorkBar>
      {board?.isStale && <StaleNote />}
      {sprint.goal && (
        <SafeText
          as="p"
          className="shrink-0 truncate px-5 pt-2 text-soft max-md:px-4"
          title="Goal of the sprint"
          text={sprint.goal}
        />
      )}
      <QueryContent query={shown} what="the board" rows={8}>
        {(data) => <Board board={data} sprints={sprints} />}
      </QueryContent>
      {isAdding && <StoryDialog sprint={sprint.id} onClose={() => setAdding(false)} />}
    </>
  )
}

function Progress({ stories }: { stories: readonly Card[] }) {
  const { done, of } = getProgress(stories)
  return of === 0 ? null : (
    <span className="flex items-center gap-2 text-xs text-soft">
      <Meter value={done / of} tone="act" />
      {done} of {of} done
    </span>
  )
}

function NoSprint() {
  const { mayChange } = useWork()
  const [isAdding, setAdding] = useState(false)
  return (
    <EmptyState icon="work" title="No sprints">
      <p>Stories belong to a sprint. Tasks without a sprint are in the backlog.</p>
      {mayChange && (
        <Button icon="plus" onClick={() => setAdding(true)}>
          New sprint
        </Button>
      )}
      {isAdding && <NewSprint onClose={() => setAdding(false)} />}
    </EmptyState>
  )
}
