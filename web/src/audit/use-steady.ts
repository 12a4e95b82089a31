import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Entry } from '../api/entry.ts'
import { topAfter } from './row.ts'
import type { Row, Sizes } from './row.ts'

const isAtTop = (element: HTMLElement) => element.scrollTop < 8

type Shown = { entries: readonly Entry[]; rows: readonly Row[]; sizes: Sizes }

/**
 * Whoever reads further down keeps what they read under their eyes while the list grows above; how
 * much has come meanwhile is counted.
 */
export function useSteady(scroller: HTMLElement | null, shown: Shown) {
  const before = useRef(shown)
  const [unseen, setUnseen] = useState(0)
  const { entries, rows, sizes } = shown

  useLayoutEffect(() => {
    const old = before.current
    before.current = { entries, rows, sizes }
    if (!scroller || isAtTop(scroller)) return
    const newest = old.entries[0]?.seq ?? 0
    const came = entries.findIndex(({ seq }) => seq <= newest)
    if (old.sizes === sizes && came < 1) return
    scroller.scrollTo({ top: topAfter(old, { rows, sizes }, scroller.scrollTop) })
    if (came > 0) setUnseen((count) => count + came)
  }, [entries, rows, sizes, scroller])

  useEffect(() => {
    if (!scroller) return
    const look = () => isAtTop(scroller) && setUnseen(0)
    scroller.addEventListener('scroll', look, { passive: true })
    return () => scroller.removeEventListener('scroll', look)
  }, [scroller])

  return { unseen, toTop: () => scroller?.scrollTo({ top: 0 }) }
}
