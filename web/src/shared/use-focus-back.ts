import { useEffect, useRef } from 'react'
import type { RefObject } from 'react'

/**
 * What appears for a moment goes with whatever has the focus in it: then the focus is again where it came from, or at
 * the beginning of the screen where that is gone, too (C11).
 */
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
  // Whatever made it go was drawn anew.
  useEffect(() => {
    if (!inside.current || inside.current.isConnected) return
    inside.current = undefined
    if (document.activeElement !== document.body) return
    const back = before.current?.isConnected ? before.current : document.getElementById('main')
    back?.focus({ preventScroll: true })
  })
}
