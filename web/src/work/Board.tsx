import { queryClient } from '../api/queries.ts'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useKeys } from '../shared/use-keys.ts'
import { HorizontalScroll } from '../shared/HorizontalScroll.tsx'
import { adjacentCard, buildColumns } from './board.ts'
import type { Direction } from './board.ts'
import type { Sprint, Status } from './work.ts'
import { focusedKey, focusRow, scrollToRow } from '../shared/focus-row.ts'
import { CardFace, StatusColumn } from './StatusColumn.tsx'
import { useDrag } from './use-drag.ts'
import { useKeyboardDrag } from './use-keyboard-drag.ts'
import { useMoves } from './use-moves.ts'
import { useView, useWork } from './work-context.ts'
import { boardQuery } from './work-queries.ts'
import type { BoardData } from './work-queries.ts'

/** Number of cards rendered per column until the person shows all. */
const maxCards = 60

type Props = { board: BoardData; sprints: readonly Sprint[] }

/** Shows a column for each status; stories move by drag, keys or menu. */
export function Board({ board, sprints }: Props) {
  const { stories, sprint, isWhole } = board
  const { project, mayChange } = useWork()
  const view = useView()
  const navigate = useNavigate()
  const moves = useMoves(project)
  const hint = useId()
  const [expanded, setWhole] = useState<ReadonlySet<Status>>(new Set())
  const columns = useMemo(
    () =>
      buildColumns(stories).map(({ status, cards }) => ({
        status,
        cards: expanded.has(status) ? cards : cards.slice(0, maxCards),
        count: cards.length,
      })),
    [stories, expanded],
  )

  /** Returns the current card, not the one from the start of the drag. */
  const getCurrentCard = (id: string) =>
    queryClient
      .getQueryData(boardQuery(project, sprint.id).queryKey)
      ?.stories.find((card) => card.id === id)
  const keepFocusOn = useFocusAfterMove(stories)
  function drop(id: string, to: Status) {
    const card = getCurrentCard(id)
    if (card && card.status !== to) void moves.toStatus(card, to)
  }
  function walk(direction: Direction) {
    const id = adjacentCard(columns, focusedKey() ?? view.story, direction)
    if (id === undefined) return
    if (view.story !== undefined)
      void navigate({
        to: '.',
        search: { ...view, story: id },
        replace: true,
        state: { keepFocus: true },
      })
    focusRow(id)
    scrollToRow(id)
  }
  useEffect(() => {
    if (view.story !== undefined) scrollToRow(view.story)
  }, [view.story])
  const { drag, ghost, onPointerDown } = useDrag(drop)
  const { lift, announcement, onKeyDown, onBlur } = useKeyboardDrag({
    cards: stories,
    mayMove: mayChange,
    onWalk: walk,
    onDrop(id, to) {
      keepFocusOn(id, to)
      drop(id, to)
    },
  })
  useKeys({
    j: () => walk('down'),
    k: () => walk('up'),
    h: () => walk('left'),
    l: () => walk('right'),
  })
  const lifted = drag ?? lift
  const dragged = drag && getCurrentCard(drag.id)
  return (
    <HorizontalScroll label={`Board of ${sprint.id}`} className="min-h-0 flex-1 -outline-offset-2">
      <div
        role="presentation"
        onPointerDown={mayChange ? onPointerDown : undefined}
        onKeyDown={onKeyDown}
        onBlur={onBlur}
        className={`flex min-h-full gap-2 p-4 md:h-full md:w-max md:min-w-full max-md:flex-col max-md:p-3 ${drag ? 'cursor-grabbing select-none' : ''}`}
      >
        {columns.map(({ status, cards, count }) => (
          <StatusColumn
            key={status}
            status={status}
            cards={cards}
            count={count}
            stories={stories}
            sprints={sprints}
            hint={hint}
            heldId={lifted?.id}
            isOver={lifted?.over === status}
            moves={moves}
            onShowAll={() => setWhole(new Set([...expanded, status]))}
          />
        ))}
      </div>
      {!isWhole && (
        <p className="px-4 pb-3 text-xs text-faint">
          First {stories.length} stories. Search to find others.
        </p>
      )}
      <p id={hint} hidden>
        {mayChange ? 'Space picks up the story, arrow keys navigate.' : 'Arrow keys navigate.'}
      </p>
      <p aria-live="assertive" className="sr-only">
        {announcement}
      </p>
      {drag && dragged && (
        <div
          ref={ghost}
          aria-hidden
          className="pointer-events-none fixed z-30 rotate-1 rounded border border-edge bg-panel shadow-raised"
          style={drag.box}
        >
          <CardFace card={dragged} blockedBy={[]} />
        </div>
      )}
    </HorizontalScroll>
  )
}

/** Restores the focus on a card that was moved by keys. */
function useFocusAfterMove(stories: BoardData['stories']) {
  const moved = useRef<{ id: string; to: Status }>(undefined)
  useLayoutEffect(() => {
    const { id, to } = moved.current ?? {}
    if (id === undefined || stories.find((card) => card.id === id)?.status !== to) return
    moved.current = undefined
    focusRow(id)
  }, [stories])
  return (id: string, to: Status) => {
    moved.current = { id, to }
  }
}
