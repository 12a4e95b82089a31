import { useEffect, useRef, useState } from 'react'
import type { PointerEvent as Press } from 'react'
import { statuses } from './work.ts'
import type { Status } from './work.ts'

/** Below this distance a press is a click. */
const clickTolerance = 5
/** Within this distance of its edge the board scrolls by `pace` pixels per frame. */
const scrollEdge = 48
const scrollStep = 12

type Box = { readonly left: number; readonly top: number; readonly width: number }
export type Drag = {
  readonly id: string
  readonly box: Box
  /** The column under the pointer. */
  readonly over: Status | undefined
}

/** Drags cards by mouse or pen. Touch scrolls and has the Move menu as alternative (WCAG 2.5.7). */
export function useDrag(onDrop: (id: string, to: Status) => void) {
  const [drag, setDrag] = useState<Drag>()
  const ghost = useRef<HTMLDivElement>(null)
  const activeDrag = useRef<AbortController>(undefined)
  useEffect(() => () => activeDrag.current?.abort(), [])

  function onPointerDown(press: Press) {
    const { button, pointerType, target, currentTarget, clientX: x, clientY: y } = press
    const card =
      target instanceof Element && !target.closest('button') && target.closest('[data-row]')
    if (!(card instanceof HTMLElement) || button !== 0 || pointerType === 'touch') return
    const board = currentTarget.parentElement
    const id = card.dataset['row'] ?? ''
    const { left, top, width } = card.getBoundingClientRect()
    const stop = new AbortController()
    activeDrag.current = stop
    const { signal } = stop
    let dragState: Drag | undefined
    let pointer = { x, y }

    const stopDrag = () => {
      stop.abort()
      setDrag(undefined)
    }
    const updateColumn = () => {
      const over = columnAt(pointer.x, pointer.y)
      if (dragState && dragState.over === over) return
      dragState = { id, box: { left, top, width }, over }
      setDrag(dragState)
    }
    /** While the board scrolls, the column under a resting pointer changes too. */
    const scroll = () => {
      if (signal.aborted || !board) return
      const { left: from, right: to } = board.getBoundingClientRect()
      const step =
        pointer.x > to - scrollEdge ? scrollStep : pointer.x < from + scrollEdge ? -scrollStep : 0
      if (step !== 0) {
        board.scrollLeft += step
        updateColumn()
      }
      requestAnimationFrame(scroll)
    }
    const move = ({ clientX, clientY }: PointerEvent) => {
      const [right, down] = [clientX - x, clientY - y]
      if (!dragState && Math.hypot(right, down) < clickTolerance) return
      if (!dragState) requestAnimationFrame(scroll)
      pointer = { x: clientX, y: clientY }
      if (ghost.current) ghost.current.style.translate = `${right}px ${down}px`
      updateColumn()
    }
    const up = () => {
      stopDrag()
      if (!dragState) return
      swallowClick()
      if (dragState.over) onDrop(id, dragState.over)
    }
    addEventListener('pointermove', move, { signal })
    addEventListener('pointerup', up, { signal })
    addEventListener('pointercancel', stopDrag, { signal })
    addEventListener(
      'keydown',
      (event) => {
        if (event.key !== 'Escape' || !dragState) return
        // Escape cancels the drag and closes nothing else.
        event.stopPropagation()
        stopDrag()
        addEventListener('pointerup', swallowClick, { once: true })
      },
      { signal, capture: true },
    )
  }

  return { drag, ghost, onPointerDown }
}

function columnAt(x: number, y: number): Status | undefined {
  const column = document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-column]')
  return statuses.find((status) => status === column?.dataset['column'])
}

/** Suppresses the click after a drop. */
function swallowClick(): void {
  const swallow = (event: MouseEvent) => {
    event.preventDefault()
    event.stopPropagation()
  }
  addEventListener('click', swallow, { capture: true })
  setTimeout(() => removeEventListener('click', swallow, { capture: true }))
}
