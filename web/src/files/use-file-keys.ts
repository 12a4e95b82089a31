import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { RefObject } from 'react'
import { useKeys } from '../shared/use-keys.ts'
import { useFocusReturn } from './use-focus-return.ts'

export const rowLook = (isOpen: boolean): string =>
  `flex h-9 items-center gap-2.5 border-b border-line px-5 -outline-offset-2 in-data-[density=compact]:h-8 max-md:h-12 max-md:px-4 ${
    isOpen ? 'bg-accent-bg shadow-[inset_2px_0_var(--accent)]' : 'hover:bg-raised'
  }`

const rowsOf = () => [...document.querySelectorAll<HTMLElement>('[data-row]')]
const isOpen = (row: HTMLElement) => row.hasAttribute('aria-current')

/** The row to go on with when this one goes away. */
export function neighbourOf(path: string): string {
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
