import type { Virtualizer } from '@tanstack/react-virtual'
import { useEffect, useEffectEvent, useRef } from 'react'
import { focusRow } from '../shared/focus-row.ts'
import { keyOf } from './row.ts'
import type { Row, Sizes } from './row.ts'

/** The open entry is kept in sight, and the focus comes back to its row when it is closed. */
export function useSelection(
  selected: number | undefined,
  rows: readonly Row[],
  sizes: Sizes,
  list: Virtualizer<HTMLDivElement, Element>,
): void {
  const before = useRef(selected)
  const show = useEffectEvent((seq: number) => {
    const index = rows.findIndex(({ key }) => key === keyOf({ seq }))
    // Behind an entry that fills a phone's screen the list has no height, and no place to scroll to.
    if (index !== -1 && list.scrollElement?.clientHeight) list.scrollToIndex(index)
  })
  useEffect(() => {
    if (selected !== undefined) show(selected)
    const closed = before.current
    before.current = selected
    if (selected !== undefined || closed === undefined) return
    // The entry leaves the page a frame later, and takes the focus with it.
    setTimeout(() => {
      if (document.activeElement === document.body) focusRow(keyOf({ seq: closed }))
    }, 50)
  }, [selected, sizes])
}
