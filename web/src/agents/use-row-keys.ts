import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { rowKey } from './trust-rows.ts'
import type { AgentFilters, AgentRow } from './trust-rows.ts'
import { useKeys } from '../shared/use-keys.ts'
import { focusedKey, focusRow, scrollToRow } from '../shared/focus-row.ts'

type ShownRows = {
  readonly rows: readonly AgentRow[]
  readonly filters: AgentFilters
  readonly open: string | undefined
  readonly domain: string | undefined
}

/** Moves through the table with j and k; the open agent follows. */
export function useRowKeys({ rows, filters, open, domain }: ShownRows): void {
  const navigate = useNavigate()
  const lastKey = useRef<string>(undefined)

  function move(step: 1 | -1) {
    const key = focusedKey() ?? (open === undefined ? lastKey.current : rowKey(open, domain ?? ''))
    const at = rows.findIndex((row) => row.key === key)
    const row = rows[at === -1 ? 0 : at + step]
    if (!row) return
    lastKey.current = row.key
    const { domain: _, ...others } = filters
    if (open !== undefined)
      void navigate({
        to: '/agents/$agent',
        params: { agent: row.agent },
        search: { ...others, ...(row.standing && { domain: row.standing.domain }) },
        replace: true,
        state: { keepFocus: true },
      })
    focusRow(row.key)
    scrollToRow(row.key)
  }

  useKeys({ j: () => move(1), k: () => move(-1) })
}
