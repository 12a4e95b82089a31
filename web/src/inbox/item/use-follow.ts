import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Item } from '../approval.ts'
import type { Entry } from '../../api/entry.ts'
import { live } from '../../api/live.ts'
import { nounOf } from '../../api/entry.ts'
import { approvalQuery } from '../approval-queries.ts'

/** A burst is asked for once. */
const gather = 100
const nouns = new Set(['proposal', 'approval', 'override', 'trust', 'permission', 'handoff'])

/** Reads the open item again when the ledger names it, or when trust in that domain may have moved. */
export function useFollow(id: string, item: Item | undefined): void {
  const client = useQueryClient()
  const domain = item?.domain
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const touches = (entry: Entry) =>
      entry.ids?.['approval'] === id ||
      entry.type.startsWith('policy.') ||
      (domain !== undefined && entry.domain === domain && nouns.has(nounOf(entry)))
    const stop = live.onEntries((entries) => {
      if (entries.some(touches))
        timer ??= setTimeout(() => {
          timer = undefined
          void client.invalidateQueries(approvalQuery(id))
        }, gather)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [client, id, domain])
}
