import { useNavigate } from '@tanstack/react-router'
import type { Virtualizer } from '@tanstack/react-virtual'
import { useRef, useEffect, useEffectEvent, useLayoutEffect, useState } from 'react'
import { useKeys } from '../shared/use-keys.ts'
import { focusedKey, focusRow } from '../shared/focus-row.ts'
import { rowKey, timelineScrollTop } from './row.ts'
import type { Row, Sizes } from './row.ts'
import type { Entry } from '../api/entry.ts'

type Deps = {
  rows: readonly Row[]
  list: Virtualizer<HTMLDivElement, Element>
  selected: number | undefined
  toTop: () => void
}

/** Moves through the list with j and k; the open entry follows. */
export function useListKeys({ rows, list, selected, toTop }: Deps): void {
  const navigate = useNavigate()
  const lastKey = useRef<string>(undefined)

  function move(step: 1 | -1) {
    const current =
      focusedKey() ?? (selected === undefined ? lastKey.current : rowKey({ seq: selected }))
    const at = rows.findIndex(({ key }) => key === current)
    const next = at === -1 ? 0 : at + step
    const index = rows[next]?.kind === 'day' ? (next + step < 0 ? next + 1 : next + step) : next
    const row = rows[index]
    if (!row || row.kind === 'day') return
    lastKey.current = row.key
    list.scrollToIndex(index)
    if (selected !== undefined && row.kind === 'entry')
      void navigate({
        to: '/audit/$seq',
        params: { seq: String(row.entry.seq) },
        search: true,
        replace: true,
        state: { keepFocus: true },
      })
    focusRow(row.key)
  }

  useKeys({ j: () => move(1), k: () => move(-1), t: toTop })
}

/** Scrolls to the open entry, and focuses its row when it closes. */
export function useSelection(
  selected: number | undefined,
  rows: readonly Row[],
  sizes: Sizes,
  list: Virtualizer<HTMLDivElement, Element>,
): void {
  const before = useRef(selected)
  const show = useEffectEvent((seq: number) => {
    const index = rows.findIndex(({ key }) => key === rowKey({ seq }))
    // On a phone the open entry hides the list, which then has no height.
    if (index !== -1 && list.scrollElement?.clientHeight) list.scrollToIndex(index)
  })
  useEffect(() => {
    if (selected !== undefined) show(selected)
    const closed = before.current
    before.current = selected
    if (selected !== undefined || closed === undefined) return
    // The entry is removed a frame later, together with the focus.
    setTimeout(() => {
      if (document.activeElement === document.body) focusRow(rowKey({ seq: closed }))
    }, 50)
  }, [selected, sizes])
}

const isAtTop = (element: HTMLElement) => element.scrollTop < 8

type AnchoredEntries = { entries: readonly Entry[]; rows: readonly Row[]; sizes: Sizes }

/** Keeps the visible rows in place while the list grows above, and counts the new entries. */
export function useScrollAnchor(scroller: HTMLElement | null, shown: AnchoredEntries) {
  const before = useRef(shown)
  const [unseen, setUnseen] = useState(0)
  const { entries, rows, sizes } = shown

  useLayoutEffect(() => {
    const previous = before.current
    before.current = { entries, rows, sizes }
    if (!scroller || isAtTop(scroller)) return
    const newest = previous.entries[0]?.seq ?? 0
    const newCount = entries.findIndex(({ seq }) => seq <= newest)
    if (previous.sizes === sizes && newCount < 1) return
    scroller.scrollTo({ top: timelineScrollTop(previous, { rows, sizes }, scroller.scrollTop) })
    if (newCount > 0) setUnseen((count) => count + newCount)
  }, [entries, rows, sizes, scroller])

  useEffect(() => {
    if (!scroller) return
    const onScroll = () => isAtTop(scroller) && setUnseen(0)
    scroller.addEventListener('scroll', onScroll, { passive: true })
    return () => scroller.removeEventListener('scroll', onScroll)
  }, [scroller])

  return { unseen, toTop: () => scroller?.scrollTo({ top: 0 }) }
}
