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
  selectedIds: ReadonlySet<string>
  selection: Selection
} {
  const [chosenIds, setChosenIds] = useState<ReadonlySet<string>>(new Set())
  const selectableIds = useMemo(() => new Set(rows.flatMap(listSelectableIds)), [rows])
  const selectedIds = useMemo(
    () => new Set([...chosenIds].filter((id) => selectableIds.has(id))),
    [chosenIds, selectableIds],
  )
  const latest = useRef({ rows, selectedIds })
  useLayoutEffect(() => {
    latest.current = { rows, selectedIds }
  }, [rows, selectedIds])

  const anchor = useRef<string>(undefined)
  const selection = useMemo(() => {
    const add = (ids: readonly string[]) =>
      setChosenIds(new Set([...latest.current.selectedIds, ...ids]))
    return {
      toggle(row: Row) {
        anchor.current = row.key
        const ids = listSelectableIds(row)
        const { selectedIds: before } = latest.current
        if (!ids.every((id) => before.has(id))) return add(ids)
        setChosenIds(new Set([...before].filter((id) => !ids.includes(id))))
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
        setChosenIds(new Set())
      },
    }
  }, [])
  return { selectedIds, selection }
}
