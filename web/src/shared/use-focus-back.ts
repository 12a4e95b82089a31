import { useEffect, useRef } from 'react'
import type { RefObject } from 'react'

/** Restores the focus when a removed toast had it: to the previous element, or to the start of the screen (C11). */
export function useRestoreFocus(place: RefObject<HTMLElement | null>): void {
  const inside = useRef<Element>(undefined)
  const before = useRef<HTMLElement>(undefined)
  useEffect(() => {
    const isIn = (target: EventTarget | null): target is Element =>
      target instanceof Element && place.current?.contains(target) === true
    const remember = ({ target, relatedTarget }: FocusEvent) => {
      inside.current = isIn(target) ? target : undefined
      if (isIn(target) && !isIn(relatedTarget) && relatedTarget instanceof HTMLElement)
        before.current = relatedTarget
    }
    document.addEventListener('focusin', remember)
    return () => document.removeEventListener('focusin', remember)
  }, [place])
  // Runs after every render, because any render can remove the element.
  useEffect(() => {
    if (!inside.current || inside.current.isConnected) return
    inside.current = undefined
    if (document.activeElement !== document.body) return
    const back = before.current?.isConnected ? before.current : document.getElementById('main')
    back?.focus({ preventScroll: true })
  })
}
