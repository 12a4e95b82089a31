import { storedIn } from '#ledger'
import type { RecordedRow, RecordedTable } from '#ledger'
import type { Trust } from './rules/trust.ts'
import type { Pair } from './scores.ts'
import { toRow } from './store.ts'
import type { MappingRow, PermissionRow } from './store.ts'

const named = (noun: string, { agent, domain }: RecordedRow) =>
  `${noun} of agent ${JSON.stringify(agent)} in domain ${JSON.stringify(domain)}`

const trustTable: RecordedTable = {
  name: 'trust',
  table: 'trust',
  baseline: 'trust.baselined',
  key: ['agent', 'domain'],
  describe: (row) => named('trust', row),
  // A proposal restarts the idle clock, without an entry for that alone (T9).
  moves: {
    column: 'active_at',
    by: (type, { actor, domain }) =>
      type === 'proposal.created' ? [(actor as { id: unknown }).id, domain] : undefined,
  },
}

const permissionTable: RecordedTable = {
  name: 'permission',
  table: 'permission',
  baseline: 'permission.baselined',
  key: ['id'],
  // Every use writes it, also one that is not counted.
  leftOut: ['last_used_at'],
  digested: ['arguments'],
  describe: ({ id, agent }) => `permission ${id} of agent ${JSON.stringify(agent)}`,
}

const mappingTable: RecordedTable = {
  name: 'mapping',
  table: 'mapping',
  baseline: 'mapping.baselined',
  key: ['agent', 'domain'],
  describe: (row) => named('mapping', row),
}

/** The tables of governance that `verify` replays from the ledger (L20). */
export const governanceTables = [trustTable, permissionTable, mappingTable]

// For the `data` of the entry that changes a row.

export const storedTrust = ({ agent, domain }: Pair, trust: Trust, before?: Trust | null) =>
  storedIn(trustTable, toRow(agent, domain, trust), before ? toRow(agent, domain, before) : before)

export const storedPermission = (row: PermissionRow, before?: PermissionRow) =>
  storedIn(permissionTable, row, before)

export const storedMapping = (row: MappingRow) => storedIn(mappingTable, row)

export const droppedMapping = ({ agent, domain }: MappingRow) => ({
  dropped: { mapping: { agent, domain } },
})
