import { nounOf } from '../../api/entry.ts'
import { useRefetch } from '../../api/use-entries.ts'
import { approvalQuery } from '../approval-queries.ts'
import type { Item } from '../approval.ts'

const nouns = new Set(['proposal', 'approval', 'override', 'trust', 'permission', 'handoff'])

/** Reads the open item again when the ledger names it, or when trust in that domain may have moved. */
export function useFollow(id: string, item: Item | undefined): void {
  useRefetch(
    (entry) =>
      entry.ids?.['approval'] === id ||
      entry.type.startsWith('policy.') ||
      (item !== undefined && entry.domain === item.domain && nouns.has(nounOf(entry))),
    approvalQuery(id),
    0,
  )
}
