import type { Db, Dialect, Query, Snapshot } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'
import { systemActor } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import { maxProblems } from './chain-verifier.ts'
import type { UnverifiedEntry } from './chain-verifier.ts'
import { field } from './semantic-checks.ts'
import { firstSeq } from './model.ts'
import type { LedgerProblem } from './model.ts'
import { redactionMark } from './secrets.ts'
import { createLedgerStore } from './store.ts'

type Value = string | number | null
/** The columns of a row that only change with an entry. */
export type RecordedRow = Readonly<Record<string, Value>>

/**
 * A table whose rows the ledger records (L20). Every entry that changes a row holds the row as it is stored from then
 * on, in `data.stored.<name>`; the entry of a deletion holds its key in `data.dropped.<name>`.
 */
export type RecordedTable = {
  readonly name: string
  readonly table: string
  /** The type of the entry that records a row from before, spelled out so that it can be searched for. */
  readonly baseline: string
  readonly key: readonly string[]
  /** Columns that change without an entry and decide nothing. */
  readonly ignoredColumns?: readonly string[]
  /** Columns with content that a person may erase: the ledger records their digest. */
  readonly digestedColumns?: readonly string[]
  describe(row: RecordedRow): string
  /** A column that an entry moves forward, to a time not later than the entry's own; `by` gives the key of the row. */
  readonly moves?: {
    readonly column: string
    findKey(type: string, entry: UnverifiedEntry): readonly unknown[] | undefined
  }
}

/** Reads every entry of a ledger in order, then compares the outcome with the tables of the store. */
export type Replay = {
  read(seq: number, type: string, entry: UnverifiedEntry): void
  compare(): Promise<readonly LedgerProblem[]>
}

const baselinedType = 'ledger.baselined'
const scanSize = 1000

/**
 * The part of an entry's `data` that records a row. `before` is the row that the change started from, null for none:
 * its digest shows whether the row was changed outside cowork since the last entry. Left out where a person sets or
 * ends a row, which is how a forged one is repaired.
 */
export const toStoredData = (
  table: RecordedTable,
  row: RecordedRow,
  before?: RecordedRow | null,
) => ({
  stored: { [table.name]: omitValues(toRecorded(table, row), [null]) },
  key: { [table.name]: keyDigest(table, row) },
  ...(before !== undefined && {
    was: { [table.name]: before ? computeDigest(table, toRecorded(table, before)) : noRow },
  }),
})

const noRow = 'none'

/** Tells rows apart whose key was redacted: a name may look like a credential. */
const keyDigest = ({ key }: RecordedTable, row: RecordedRow): string =>
  sha256Hex(canonicalJson(key.map((column) => row[column] ?? null))).slice(0, 32)

/** Columns that were added later are null in older rows and 0 once such a row is written. */
function computeDigest({ moves }: RecordedTable, row: RecordedRow): string {
  const columns = Object.entries(omitValues(row, [null, 0])).filter(
    ([name]) => name !== moves?.column,
  )
  return sha256Hex(canonicalJson(Object.fromEntries(columns))).slice(0, 32)
}

function toRecorded(
  { ignoredColumns = [], digestedColumns = [] }: RecordedTable,
  row: RecordedRow,
): RecordedRow {
  const columns = Object.entries(row).filter(([name]) => !ignoredColumns.includes(name))
  return Object.fromEntries(
    columns.map(([name, value]) => [
      name,
      digestedColumns.includes(name) && value !== null ? sha256Hex(String(value)) : value,
    ]),
  )
}

const selectRows = ({ table }: RecordedTable, dialect: Dialect): Query<RecordedRow> =>
  query(builder<Record<string, RecordedRow>>(dialect).selectFrom(table).selectAll())

const omitValues = (row: RecordedRow, values: readonly Value[]): RecordedRow =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => !values.includes(value)))

/**
 * The last recorded row counts. The rows of an older store are recorded by its baseline, which ends with
 * `ledger.baselined`; a later baseline is ignored, so an inserted row cannot get itself recorded.
 */
export function createReplay(table: RecordedTable, db: Snapshot): Replay {
  type ReplayedRow = { readonly row: RecordedRow; readonly seq: number; until?: number }
  const { name, key, moves, ignoredColumns = [] } = table
  const rows = new Map<string, ReplayedRow>()
  /** Of the rows whose key was redacted: they cannot be compared. */
  const maskedKeys = new Set<unknown>()
  let isBaselined = false
  let newest = 0
  const problems: LedgerProblem[] = []
  function add(seq: number, row: RecordedRow, why: string): void {
    if (problems.length < maxProblems) problems.push({ seq, why: `${table.describe(row)}: ${why}` })
  }
  const getKey = (row: UnverifiedEntry) => JSON.stringify(key.map((column) => row[column]))
  const hasMaskedKey = (row: RecordedRow) => key.some((column) => isMasked(row[column]))

  function read(seq: number, type: string, entry: UnverifiedEntry): void {
    const { data } = entry
    newest = seq
    const row = field(field(data, 'stored'), name)
    if (isRow(row)) {
      const was = field(field(data, 'was'), name)
      if (
        isBaselined &&
        was !== undefined &&
        !hasMaskedKey(row) &&
        !startedFrom(rows.get(getKey(row)), was)
      )
        add(seq, row, 'changed outside cowork before this entry')
      const isIgnored = type === table.baseline && (isBaselined || rows.has(getKey(row)))
      if (!isIgnored && hasMaskedKey(row)) maskedKeys.add(field(field(data, 'key'), name))
      else if (!isIgnored) rows.set(getKey(row), { row, seq })
    }
    const dropped = field(field(data, 'dropped'), name)
    if (isRow(dropped)) rows.delete(getKey(dropped))
    const moved = moves?.findKey(type, entry)
    const mover = moved && rows.get(JSON.stringify(moved))
    if (mover) mover.until = Number(entry['at'])
    if (type === baselinedType) isBaselined ||= namesTable(data, name)
  }

  /** Whether a change started from the recorded row. A redacted row has no digest to compare. */
  function startedFrom(before: ReplayedRow | undefined, was: unknown): boolean {
    if (!before) return matchesRecorded(noRow, was)
    const { row } = before
    return Object.values(row).some(isMasked) || matchesRecorded(computeDigest(table, row), was)
  }

  function describeDifference(
    row: RecordedRow,
    { row: recorded, until = 0 }: ReplayedRow,
  ): string | undefined {
    const columns = new Set([...Object.keys(row), ...Object.keys(recorded)])
    const found = [...columns].flatMap((column) => {
      if (ignoredColumns.includes(column)) return []
      const [inStore, inLedger] = [row[column] ?? null, recorded[column] ?? null]
      if (matchesRecorded(inStore, inLedger)) return []
      const hasMoved = Number(inStore) > Number(inLedger) && Number(inStore) <= until
      if (column === moves?.column && hasMoved) return []
      return [
        `the store says ${column} ${formatValue(inStore)}, the ledger gives ${formatValue(inLedger)}`,
      ]
    })
    return found.length > 0 ? found.join('; ') : undefined
  }

  async function compare(): Promise<readonly LedgerProblem[]> {
    // No daemon that records rows has opened this store yet. No version writes rows before the first entry.
    if (!isBaselined && newest > 0) return []
    for await (const page of db.scan(selectRows(table, db.dialect), scanSize))
      for (const row of page.map((stored) => toRecorded(table, stored))) {
        const match = rows.get(getKey(row))
        const why = match && describeDifference(row, match)
        rows.delete(getKey(row))
        if (match && why) add(match.seq, row, why)
        if (!match && !maskedKeys.has(keyDigest(table, row)))
          add(Math.max(newest, firstSeq), row, 'no entry records this row')
      }
    for (const { seq, row } of rows.values()) add(seq, row, 'the row is missing in the store')
    return problems
  }

  return { read, compare }
}

/**
 * Records the rows that were there before entries recorded rows, once for each table. Nothing else writes yet when a
 * daemon calls this; another daemon of the same database records its changes, and those win over a baseline.
 */
export async function writeBaselines(db: Db, tables: readonly RecordedTable[]): Promise<void> {
  const store = createLedgerStore(db.dialect)
  const marks = await store.find(db, { types: [baselinedType], limit: 1000 })
  const isDone = ({ name }: RecordedTable) =>
    marks.some(({ body }) => namesTable(field(JSON.parse(body), 'data'), name))
  const due = tables.filter((table) => !isDone(table))
  if (due.length === 0) return
  for (const table of due) {
    const rows = await db.all(selectRows(table, db.dialect))
    // After the rows, which were committed with entries.
    if (rows.length > 0 && (await store.peek(db))?.size === 0) throw ledgerEmptyError(table)
    for (let from = 0; from < rows.length; from += scanSize)
      await db.transact(async (tx) => {
        for (const row of rows.slice(from, from + scanSize))
          tx.append({
            type: table.baseline,
            actor: systemActor,
            data: toStoredData(table, row),
          })
      })
  }
  const names = due.map(({ name }) => name)
  await db.transact(async (tx) =>
    tx.append({ type: baselinedType, actor: systemActor, data: { tables: names } }),
  )
}

const ledgerEmptyError = ({ table }: RecordedTable) =>
  new CoworkError(
    'ledger_unproven',
    `The ledger has no entries, but the table ${table} has rows: the entries were removed.`,
    { hint: 'Restore a backup with `cowork restore`.' },
  )

function namesTable(data: unknown, name: string): boolean {
  const tables = field(data, 'tables')
  return Array.isArray(tables) && tables.includes(name)
}

const isRow = (value: unknown): value is RecordedRow =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isMasked = (value: unknown): value is string =>
  typeof value === 'string' && value.includes(redactionMark)

/** Whether a value is the recorded one. A redacted part stands for any text. */
function matchesRecorded(value: unknown, recorded: unknown): boolean {
  if (value === recorded) return true
  if (!isMasked(recorded)) return false
  const text = String(value)
  const [first = '', ...rest] = recorded.split(redactionMark)
  const last = rest.pop() ?? ''
  if (!text.startsWith(first)) return false
  let from = first.length
  for (const part of rest) {
    const at = text.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return text.length - last.length >= from && text.endsWith(last)
}

const formatValue = (value: Value) => JSON.stringify(value).slice(0, 200)
