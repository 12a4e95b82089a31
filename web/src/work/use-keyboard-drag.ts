import { useEffect, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { adjacentStatus } from './board.ts'
import type { Direction } from './board.ts'
import { statusNames } from './text.ts'
import { statuses } from './work.ts'
import type { Card, Status } from './work.ts'

type Lift = { readonly id: string; readonly over: Status }

const arrows: Readonly<Record<string, Direction>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
}

const placeOf = (status: Status) =>
  `${statusNames[status]}, column ${statuses.indexOf(status) + 1} of ${statuses.length}`

type Board = {
  readonly cards: readonly Card[]
  readonly mayMove: boolean
  onWalk(direction: Direction): void
  onDrop(id: string, to: Status): void
}

/** Drags cards by keyboard: Space lifts a card, arrows move it, Space drops it (WCAG 2.1.1). */
export function useKeyboardDrag({ cards, mayMove, onWalk, onDrop }: Board) {
  const [lift, setLift] = useState<Lift>()
  /** The announcement for screen readers. */
  const [said, setSaid] = useState('')

  const over = lift?.over
  useEffect(() => {
    const column = document.querySelector(`[data-column="${over ?? ''}"]`)
    column?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [over])

  function take(id: string, status: Status) {
    setLift({ id, over: status })
    setSaid(
      `Lifted ${id}. ${placeOf(status)}. Left and right choose a column, Space drops, Escape cancels.`,
    )
  }
  function leave() {
    setLift(undefined)
    setSaid('Canceled.')
  }
  function put({ id, over: to }: Lift, from: Status) {
    if (to === from) return leave()
    setLift(undefined)
    setSaid(`Moved ${id} to ${statusNames[to]}.`)
    onDrop(id, to)
  }

  function onKeyDown(event: KeyboardEvent) {
    const { key, target } = event
    const id = target instanceof HTMLElement ? target.dataset['row'] : undefined
    const card = cards.find((one) => one.id === id)
    if (!card || event.ctrlKey || event.metaKey || event.altKey) return
    const way = arrows[key]
    const isHeld = lift?.id === card.id
    if (isHeld && (key === ' ' || key === 'Enter')) put(lift, card.status)
    else if (isHeld && key === 'Escape') leave()
    else if (isHeld && (way === 'left' || way === 'right')) {
      const next = adjacentStatus(lift.over, way)
      setLift({ ...lift, over: next })
      setSaid(placeOf(next))
    } else if (!isHeld && key === ' ' && mayMove) take(card.id, card.status)
    else if (!isHeld && way) onWalk(way)
    else return
    event.preventDefault()
  }

  /** Losing focus cancels the drag. */
  const onBlur = () => {
    if (lift) leave()
  }

  return { lift, said, onKeyDown, onBlur }
}
