import { useEffect, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { adjacentStatus } from './board.ts'
import type { Direction } from './board.ts'
import { statusNames } from './text.ts'
import { statuses } from './work.ts'
import type { Card, Status } from './work.ts'

type LiftedCard = { readonly id: string; readonly over: Status }

const arrows: Readonly<Record<string, Direction>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
}

const formatColumn = (status: Status) =>
  `${statusNames[status]}, column ${statuses.indexOf(status) + 1} of ${statuses.length}`

type Board = {
  readonly cards: readonly Card[]
  readonly mayMove: boolean
  onWalk(direction: Direction): void
  onDrop(id: string, to: Status): void
}

/** Drags cards by keyboard: Space lifts a card, arrows move it, Space drops it (WCAG 2.1.1). */
export function useKeyboardDrag({ cards, mayMove, onWalk, onDrop }: Board) {
  const [lift, setLift] = useState<LiftedCard>()
  /** The announcement for screen readers. */
  const [announcement, setAnnouncement] = useState('')

  const over = lift?.over
  useEffect(() => {
    const column = document.querySelector(`[data-column="${over ?? ''}"]`)
    column?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [over])

  function liftCard(id: string, status: Status) {
    setLift({ id, over: status })
    setAnnouncement(
      `Picked up ${id}. ${formatColumn(status)}. Left and right choose a column, Space drops, Escape cancels.`,
    )
  }
  function cancel() {
    setLift(undefined)
    setAnnouncement('Canceled.')
  }
  function drop({ id, over: to }: LiftedCard, from: Status) {
    if (to === from) return cancel()
    setLift(undefined)
    setAnnouncement(`Moved ${id} to ${statusNames[to]}.`)
    onDrop(id, to)
  }

  function onKeyDown(event: KeyboardEvent) {
    const { key, target } = event
    const id = target instanceof HTMLElement ? target.dataset['row'] : undefined
    const card = cards.find((one) => one.id === id)
    if (!card || event.ctrlKey || event.metaKey || event.altKey) return
    const direction = arrows[key]
    const isLifted = lift?.id === card.id
    if (isLifted && (key === ' ' || key === 'Enter')) drop(lift, card.status)
    else if (isLifted && key === 'Escape') cancel()
    else if (isLifted && (direction === 'left' || direction === 'right')) {
      const next = adjacentStatus(lift.over, direction)
      setLift({ ...lift, over: next })
      setAnnouncement(formatColumn(next))
    } else if (!isLifted && key === ' ' && mayMove) liftCard(card.id, card.status)
    else if (!isLifted && direction) onWalk(direction)
    else return
    event.preventDefault()
  }

  /** Losing focus cancels the drag. */
  const onBlur = () => {
    if (lift) cancel()
  }

  return { lift, announcement, onKeyDown, onBlur }
}
