import { useEffect, useRef } from 'react'
import type { RefObject } from 'react'

/**
 * Where what had the focus is gone with its row, the row in its place has it, or the last one, or the place itself:
 * a list that is worked off by keyboard goes on where one was (C11).
 */
export function useFocusReturn(place: RefObject<HTMLElement | null>, rows: string): void {
  const last = useRef<{ readonly element: Element; readonly at: number }>(undefined)
  useEffect(() => {
    const remember = ({ target }: FocusEvent) => {
      if (!(target instanceof Element)) return
      const at = rowsIn(place, rows).findIndex((row) => row.contains(target))
      last.current = at === -1 ? undefined : { element: target, at }
    }
    document.addEventListener('focusin', remember)
    return () => document.removeEventListener('focusin', remember)
  }, [place, rows])
  // Whatever made it go was drawn anew.
  useEffect(() => {
    const { element, at } = last.current ?? {}
    if (!element || at === undefined || element.isConnected) return
    last.current = undefined
    if (document.activeElement !== document.body) return
    const row = rowsIn(place, rows)
    const next = row[Math.min(at, row.length - 1)]
    const first = next?.matches(pressed) ? next : next?.querySelector<HTMLElement>(pressed)
    ;(first ?? place.current)?.focus()
  })
}

const pressed = 'a[href], button'

const rowsIn = (place: RefObject<HTMLElement | null>, rows: string) => [
  ...(place.current?.querySelectorAll<HTMLElement>(rows) ?? []),
]
