import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { rowIds, anchoredScrollTop } from './row.ts'
import type { Row } from './row.ts'

type AnchoredList = {
  readonly rows: readonly Row[]
  readonly height: number
  /** Identifies the list; another list starts at the top. */
  readonly name: string
  /** An item of the list is open. */
  readonly isReading: boolean
}

const isAtTop = (element: HTMLElement) => element.scrollTop < 8
const isInUse = (element: HTMLElement) => element.matches(':hover, :focus-within')

/**
 * Keeps the visible rows in place while the list changes, and counts new rows above them. New rows move the list only
 * if it is at the top and unused.
 */
export function useInboxScrollAnchor(scroller: HTMLElement | null, shown: AnchoredList) {
  const before = useRef(shown)
  const spacer = useRef<HTMLDivElement>(null)
  const [unseen, setUnseen] = useState(0)
  const { rows, height, name, isReading } = shown

  useLayoutEffect(() => {
    const previous = before.current
    before.current = { rows, height, name, isReading }
    if (!scroller || previous.rows === rows) return
    if (previous.name !== name) {
      setUnseen(0)
      scroller.scrollTo({ top: 0 })
      return
    }
    const isIdle = isAtTop(scroller) && !isReading && !isInUse(scroller)
    if (isIdle || previous.height !== height || previous.rows.length === 0) return
    const { scrollTop } = scroller
    const top = anchoredScrollTop(previous.rows, rows, { top: scrollTop, height })
    if (top === scrollTop) return
    // A short list cannot scroll, so the spacer extends it.
    if (spacer.current)
      spacer.current.style.height = `${Math.max(0, top + scroller.clientHeight - rows.length * height)}px`
    scroller.scrollTo({ top })
    const known = new Set(previous.rows.flatMap(rowIds))
    const above = rows.slice(0, Math.floor(top / height)).flatMap(rowIds)
    const newCount = new Set(above.filter((id) => !known.has(id))).size
    if (newCount > 0) setUnseen((count) => count + newCount)
  }, [rows, height, name, isReading, scroller])

  useEffect(() => {
    if (!scroller) return
    const onScroll = () => {
      if (!isAtTop(scroller)) return
      setUnseen(0)
      if (spacer.current) spacer.current.style.height = '0'
    }
    scroller.addEventListener('scroll', onScroll, { passive: true })
    return () => scroller.removeEventListener('scroll', onScroll)
  }, [scroller])

  return { unseen, spacer, toTop: () => scroller?.scrollTo({ top: 0 }) }
}
