import { useEffect, useRef, useState } from 'react'
import type { PointerEvent as Press } from 'react'
import { statuses } from './work.ts'
import type { Status } from './work.ts'

/** Below this distance a press is a click. */
const slack = 5
/** Within this distance of its edge the board scrolls by `pace` pixels per frame. */
const edge = 48
const pace = 12

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
  const under = useRef<AbortController>(undefined)
  useEffect(() => () => under.current?.abort(), [])

  function onPointerDown(press: Press) {
    const { button, pointerType, target, currentTarget, clientX: x, clientY: y } = press
    const card =
      target instanceof Element && !target.closest('button') && target.closest('[data-row]')
    if (!(card instanceof HTMLElement) || button !== 0 || pointerType === 'touch') return
    const board = currentTarget.parentElement
    const id = card.dataset['row'] ?? ''
    const { left, top, width } = card.getBoundingClientRect()
    const stop = new AbortController()
    under.current = stop
    const { signal } = stop
    let now: Drag | undefined
    let at = { x, y }

    const end = () => {
      stop.abort()
      setDrag(undefined)
    }
    const look = () => {
      const over = columnAt(at.x, at.y)
      if (now && now.over === over) return
      now = { id, box: { left, top, width }, over }
      setDrag(now)
    }
    /** While the board scrolls, the column under a resting pointer changes too. */
    const scroll = () => {
      if (signal.aborted || !board) return
      const { left: from, right: to } = board.getBoundingClientRect()
      const step = at.x > to - edge ? pace : at.x < from + edge ? -pace : 0
      if (step !== 0) {
        board.scrollLeft += step
        look()
      }
      requestAnimationFrame(scroll)
    }
    const move = ({ clientX, clientY }: PointerEvent) => {
      const [right, down] = [clientX - x, clientY - y]
      if (!now && Math.hypot(right, down) < slack) return
      if (!now) requestAnimationFrame(scroll)
      at = { x: clientX, y: clientY }
      if (ghost.current) ghost.current.style.translate = `${right}px ${down}px`
      look()
    }
    const up = () => {
      end()
      if (!now) return
      swallowClick()
      if (now.over) onDrop(id, now.over)
    }
    addEventListener('pointermove', move, { signal })
    addEventListener('pointerup', up, { signal })
    addEventListener('pointercancel', end, { signal })
    addEventListener(
      'keydown',
      (event) => {
        if (event.key !== 'Escape' || !now) return
        // Escape cancels the drag and closes nothing else.
        event.stopPropagation()
        end()
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
