import { useNavigate } from '@tanstack/react-router'
import type { Virtualizer } from '@tanstack/react-virtual'
import { useEffect, useEffectEvent, useRef } from 'react'
import { hasId, findTargetId } from './row.ts'
import type { Row } from './row.ts'
import { useKeys } from '../shared/use-keys.ts'
import { focusedKey, focusRow } from '../shared/focus-row.ts'
import type { Selection } from './use-selection.ts'

type Deps = {
  readonly rows: readonly Row[]
  readonly list: Virtualizer<HTMLDivElement, Element>
  readonly current: string | undefined
  readonly picks: Selection
  readonly toTop: () => void
}

/** Moves through the list with j and k, and selects with shift; the open item follows. */
export function useCursor({ rows, list, current, picks, toTop }: Deps): void {
  const navigate = useNavigate()
  const lastKey = useRef<string>(undefined)

  function move(step: 1 | -1, isExtending: boolean) {
    const key = cursorKey(rows, current) ?? lastKey.current
    const at = rows.findIndex((row) => row.key === key)
    const row = rows[at === -1 ? 0 : at + step]
    if (!row) return
    lastKey.current = row.key
    list.scrollToIndex(rows.indexOf(row))
    if (isExtending) picks.extend(row, rows[at])
    const id = findTargetId(row)
    if (current !== undefined && id !== undefined)
      void navigate({
        to: '/inbox/$id',
        params: { id },
        search: true,
        replace: true,
        state: { keepFocus: true },
      })
    focusRow(row.key)
  }

  useKeys({
    j: () => move(1, false),
    k: () => move(-1, false),
    J: () => move(1, true),
    K: () => move(-1, true),
    t: toTop,
  })

  const show = useEffectEvent((id: string) => {
    const index = rows.findIndex((row) => hasId(row, id))
    // On a phone the open item hides the list, which then has no height.
    if (index !== -1 && list.scrollElement?.clientHeight) list.scrollToIndex(index)
  })
  const focus = useEffectEvent((id: string) => {
    const row = rows.find((one) => hasId(one, id))
    if (row && document.activeElement === document.body) focusRow(row.key)
  })
  const before = useRef(current)
  useEffect(() => {
    if (current !== undefined) show(current)
    const closed = before.current
    before.current = current
    if (current !== undefined || closed === undefined) return
    // The item is removed a frame later, together with the focus.
    setTimeout(() => focus(closed), 50)
  }, [current])
}

/** Returns the row that keys apply to: the focused row, or the open one. */
export function cursorKey(rows: readonly Row[], current: string | undefined): string | undefined {
  const open = current === undefined ? undefined : rows.find((row) => hasId(row, current))
  return focusedKey() ?? open?.key
}
