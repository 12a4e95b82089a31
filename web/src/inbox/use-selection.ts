import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { idsBetween, listSelectableIds } from './row.ts'
import type { Row } from './row.ts'

export type Selection = {
  readonly toggle: (row: Row) => void
  readonly pick: (row: Row) => void
  /** Selects all rows from the anchor to this row. */
  readonly extend: (row: Row, from?: Row) => void
  readonly clear: () => void
}

/** Returns the selected ids in the list. The methods are stable, so memoized rows do not rerender. */
export function useSelection(rows: readonly Row[]): {
  picked: ReadonlySet<string>
  picks: Selection
} {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const selectableIds = useMemo(() => new Set(rows.flatMap(listSelectableIds)), [rows])
  const picked = useMemo(
    () => new Set([...chosen].filter((id) => selectableIds.has(id))),
    [chosen, selectableIds],
  )
  const latest = useRef({ rows, picked })
  useLayoutEffect(() => {
    latest.current = { rows, picked }
  }, [rows, picked])

  const anchor = useRef<string>(undefined)
  const picks = useMemo(() => {
    const add = (ids: readonly string[]) => setChosen(new Set([...latest.current.picked, ...ids]))
    return {
      toggle(row: Row) {
        anchor.current = row.key
        const ids = listSelectableIds(row)
        const { picked: before } = latest.current
        if (!ids.every((id) => before.has(id))) return add(ids)
        setChosen(new Set([...before].filter((id) => !ids.includes(id))))
      },
      pick(row: Row) {
        anchor.current = row.key
        add(listSelectableIds(row))
      },
      extend(row: Row, from?: Row) {
        anchor.current ??= from?.key ?? row.key
        add(idsBetween(latest.current.rows, anchor.current, row.key))
      },
      clear() {
        anchor.current = undefined
        setChosen(new Set())
      },
    }
  }, [])
  return { picked, picks }
}
