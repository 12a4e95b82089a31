import { toStoredData } from '#ledger'
import type { Entry, RecordedRow, RecordedTable } from '#ledger'
import { toAutonomousKey, isAutonomous } from './autonomous-calls.ts'
import type { Trust } from './rules/trust.ts'
import type { TrustKey } from './trust-service.ts'
import { toRow } from './store.ts'
import type { KindRow, MappingRow, PermissionRow } from './store.ts'

const describeRow = (noun: string, { agent, domain }: RecordedRow) =>
  `${noun} of agent ${JSON.stringify(agent)} in domain ${JSON.stringify(domain)}`

const trustTable: RecordedTable = {
  name: 'trust',
  table: 'trust',
  baseline: 'trust.baselined',
  key: ['agent', 'domain'],
  // Converted columns, no longer used by any decision.
  ignoredColumns: ['low_good', 'low_bad', 'normal_good', 'normal_bad', 'high_good', 'high_bad'],
  describe: (row) => describeRow('trust', row),
  // A proposal and an autonomous action restart the idle clock, without an entry only for that (T9).
  moves: {
    column: 'active_at',
    findKey(_, parsed) {
      const entry = parsed as unknown as Entry
      if (entry.type === 'proposal.created') return [entry.actor.id, entry.domain]
      if (!entry.type.startsWith('call.') || !isAutonomous(entry)) return undefined
      const { agent, domain } = toAutonomousKey(entry)
      return [agent, domain]
    },
  },
}

const kindTable: RecordedTable = {
  name: 'trust_kind',
  table: 'trust_kind',
  baseline: 'trust_kind.baselined',
  key: ['agent', 'domain', 'risk', 'kind'],
  describe: (row) => `${describeRow('credit', row)} for ${JSON.stringify(row['kind'])}`,
}

const permissionTable: RecordedTable = {
  name: 'permission',
  table: 'permission',
  baseline: 'permission.baselined',
  key: ['id'],
  // Every use writes this column, even an uncounted one.
  ignoredColumns: ['last_used_at'],
  digestedColumns: ['arguments'],
  describe: ({ id, agent }) => `permission ${id} of agent ${JSON.stringify(agent)}`,
}

const mappingTable: RecordedTable = {
  name: 'mapping',
  table: 'mapping',
  baseline: 'mapping.baselined',
  key: ['agent', 'domain'],
  describe: (row) => describeRow('mapping', row),
}

/** The tables of governance that `verify` replays from the ledger (L20). */
export const governanceTables = [trustTable, kindTable, permissionTable, mappingTable]

// Data for the entry that changes a row.

export const storedTrust = ({ agent, domain }: TrustKey, trust: Trust, before?: Trust | null) =>
  toStoredData(
    trustTable,
    toRow(agent, domain, trust),
    before ? toRow(agent, domain, before) : before,
  )

/** The credit of a kind of action after and before a change; undefined without earlier credit. */
export type KindChange = { readonly row: KindRow; readonly from: number | undefined }

export function storedCredit(
  pair: TrustKey,
  trust: Trust,
  before: Trust | undefined,
  kind: KindChange | undefined,
) {
  const parts = storedTrust(pair, trust, before)
  if (!kind) return parts
  const { row, from } = kind
  const own = toStoredData(kindTable, row, from === undefined ? null : { ...row, credit: from })
  return {
    stored: { ...parts.stored, ...own.stored },
    key: { ...parts.key, ...own.key },
    was: { ...parts.was, ...own.was },
  }
}

export const storedKind = (row: KindRow) => toStoredData(kindTable, row)

export const storedPermission = (row: PermissionRow, before?: PermissionRow) =>
  toStoredData(permissionTable, row, before)

export const storedMapping = (row: MappingRow) => toStoredData(mappingTable, row)

export const droppedMapping = ({ agent, domain }: MappingRow) => ({
  dropped: { mapping: { agent, domain } },
})
