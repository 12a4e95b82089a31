import { storedIn } from '#ledger'
import type { RecordedTable } from '#ledger'
import type { GrantRow } from '../grant-store.ts'

/** The grant rows that `verify` replays from the ledger (L20). */
export const grantTable: RecordedTable = {
  name: 'grant',
  table: 'file_grant',
  baseline: 'grant.baselined',
  key: ['id'],
  // Uses are counted in memory and written at most each second.
  leftOut: ['last_accessed', 'access_count'],
  describe: ({ id, path }) => `grant ${id} of ${JSON.stringify(path)}`,
}

/** For the `data` of the entry that changes the row. */
export const storedGrant = (row: GrantRow, before?: GrantRow) => storedIn(grantTable, row, before)
