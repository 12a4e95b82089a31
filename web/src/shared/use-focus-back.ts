import { useEffect, useRef } from 'react'
import type { RefObject } from 'react'

/** Restores the focus when a removed toast had it: to the previous element, or to the start of the screen (C11). */
export function useRestoreFocus(container: RefObject<HTMLElement | null>): void {
  const focused = useRef<Element>(undefined)
  const previous = useRef<HTMLElement>(undefined)
  useEffect(() => {
    const isInside = (target: EventTarget | null): target is Element =>
      target instanceof Element && container.current?.contains(target) === true
    const onFocusIn = ({ target, relatedTarget }: FocusEvent) => {
      focused.current = isInside(target) ? target : undefined
      if (isInside(target) && !isInside(relatedTarget) && relatedTarget instanceof HTMLElement)
        previous.current = relatedTarget
    }
    document.addEventListener('focusin', onFocusIn)
    return () => document.removeEventListener('focusin', onFocusIn)
  }, [container])
  // Runs after every render, because any render can remove the element.
  useEffect(() => {
    if (!focused.current || focused.current.isConnected) return
    focused.current = undefined
    if (document.activeElement !== document.body) return
    const back = previous.current?.isConnected ? previous.current : document.getElementById('main')
    back?.focus({ preventScroll: true })
  })
}
