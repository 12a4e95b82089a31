import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { RefObject } from 'react'

/** Focuses the heading of an opened item, except when keys moved the selection in the list. */
export function useFocusOnOpen(): RefObject<HTMLHeadingElement | null> {
  const ref = useRef<HTMLHeadingElement>(null)
  const { keepFocus } = useLocation().state
  useEffect(() => {
    if (!keepFocus) ref.current?.focus({ preventScroll: true })
  }, [keepFocus])
  return ref
}
