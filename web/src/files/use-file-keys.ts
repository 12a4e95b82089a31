import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { RefObject } from 'react'
import { useKeys } from '../shared/use-keys.ts'

export const rowClass = (isOpen: boolean): string =>
  `flex h-9 items-center gap-2.5 border-b border-line px-5 -outline-offset-2 in-data-[density=compact]:h-8 max-md:h-12 max-md:px-4 ${
    isOpen ? 'bg-accent-bg shadow-[inset_2px_0_var(--accent)]' : 'hover:bg-raised'
  }`

const rowsOf = () => [...document.querySelectorAll<HTMLElement>('[data-row]')]
const isOpen = (row: HTMLElement) => row.hasAttribute('aria-current')

export function nextRow(path: string): string {
  const rows = rowsOf()
  const at = rows.findIndex(({ dataset }) => dataset['row'] === path)
  return (rows[at + 1] ?? rows[at - 1])?.dataset['row'] ?? ''
}

/** j and k walk the rows that are there; Enter follows the link. Whoever comes from elsewhere finds the place. */
export function useFileKeys(isThere: boolean, place: RefObject<HTMLElement | null>): void {
  useFocusReturn(place, '[data-row]')
  const { row: wanted } = useLocation().state
  useEffect(() => {
    if (isThere) rowsOf().find(isOpen)?.scrollIntoView({ block: 'nearest' })
  }, [isThere])
  useEffect(() => {
    if (!isThere || wanted === undefined) return
    const rows = rowsOf()
    const row = rows.find(({ dataset }) => dataset['row'] === wanted) ?? rows[0]
    ;(row ?? place.current)?.focus()
  }, [isThere, wanted, place])
  const move = (step: 1 | -1) => {
    const rows = rowsOf()
    const focused = document.activeElement
    const at = rows.findIndex((row) => row === focused)
    const from = at === -1 ? rows.findIndex(isOpen) : at
    rows[from === -1 ? 0 : from + step]?.focus()
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
}

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
