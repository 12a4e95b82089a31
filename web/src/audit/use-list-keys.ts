import { useNavigate } from '@tanstack/react-router'
import type { Virtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import { useKeys } from '../shared/use-keys.ts'
import { focusedKey, focusRow } from '../shared/focus-row.ts'
import { keyOf } from './row.ts'
import type { Row } from './row.ts'

type Deps = {
  rows: readonly Row[]
  list: Virtualizer<HTMLDivElement, Element>
  selected: number | undefined
  toTop: () => void
}

/** j and k walk the list; an open detail follows. */
export function useListKeys({ rows, list, selected, toTop }: Deps): void {
  const navigate = useNavigate()
  const walked = useRef<string>(undefined)

  function move(step: 1 | -1) {
    const current =
      focusedKey() ?? (selected === undefined ? walked.current : keyOf({ seq: selected }))
    const at = rows.findIndex(({ key }) => key === current)
    const next = at === -1 ? 0 : at + step
    const index = rows[next]?.kind === 'day' ? (next + step < 0 ? next + 1 : next + step) : next
    const row = rows[index]
    if (!row || row.kind === 'day') return
    walked.current = row.key
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
