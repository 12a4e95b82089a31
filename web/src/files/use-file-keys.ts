import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { RefObject } from 'react'
import { useKeys } from '../shared/use-keys.ts'

export const rowClass = (isOpen: boolean): string =>
  `flex h-9 items-center gap-2.5 border-b border-line px-5 -outline-offset-2 in-data-[density=compact]:h-8 max-md:h-12 max-md:px-4 ${
    isOpen ? 'bg-accent-bg shadow-[inset_2px_0_var(--accent)]' : 'hover:bg-raised'
  }`

const listRows = () => [...document.querySelectorAll<HTMLElement>('[data-row]')]
const isOpen = (row: HTMLElement) => row.hasAttribute('aria-current')

export function nextRow(path: string): string {
  const rows = listRows()
  const at = rows.findIndex(({ dataset }) => dataset['row'] === path)
  return (rows[at + 1] ?? rows[at - 1])?.dataset['row'] ?? ''
}

/** Moves the focus through the rows with j and k. After navigation, focuses the row of the history state. */
export function useFileKeys(isThere: boolean, container: RefObject<HTMLElement | null>): void {
  useFocusReturn(container, '[data-row]')
  const { row: targetRow } = useLocation().state
  useEffect(() => {
    if (isThere) listRows().find(isOpen)?.scrollIntoView({ block: 'nearest' })
  }, [isThere])
  useEffect(() => {
    if (!isThere || targetRow === undefined) return
    const rows = listRows()
    const row = rows.find(({ dataset }) => dataset['row'] === targetRow) ?? rows[0]
    ;(row ?? container.current)?.focus()
  }, [isThere, targetRow, container])
  const move = (step: 1 | -1) => {
    const rows = listRows()
    const focused = document.activeElement
    const at = rows.findIndex((row) => row === focused)
    const from = at === -1 ? rows.findIndex(isOpen) : at
    rows[from === -1 ? 0 : from + step]?.focus()
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
}

/** Restores the focus after a focused row disappears: to the row at its index, the last row, or the container (C11). */
export function useFocusReturn(container: RefObject<HTMLElement | null>, rows: string): void {
  const last = useRef<{ readonly element: Element; readonly at: number }>(undefined)
  useEffect(() => {
    const remember = ({ target }: FocusEvent) => {
      if (!(target instanceof Element)) return
      const at = findRows(container, rows).findIndex((row) => row.contains(target))
      last.current = at === -1 ? undefined : { element: target, at }
    }
    document.addEventListener('focusin', remember)
    return () => document.removeEventListener('focusin', remember)
  }, [container, rows])
  // Runs after each render, because any render can remove the row.
  useEffect(() => {
    const { element, at } = last.current ?? {}
    if (!element || at === undefined || element.isConnected) return
    last.current = undefined
    if (document.activeElement !== document.body) return
    const row = findRows(container, rows)
    const next = row[Math.min(at, row.length - 1)]
    const first = next?.matches(focusableSelector)
      ? next
      : next?.querySelector<HTMLElement>(focusableSelector)
    ;(first ?? container.current)?.focus()
  })
}

const focusableSelector = 'a[href], button'

const findRows = (container: RefObject<HTMLElement | null>, rows: string) => [
  ...(container.current?.querySelectorAll<HTMLElement>(rows) ?? []),
]
