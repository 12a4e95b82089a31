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
/** The columns of a row that change only together with an entry. */
export type RecordedRow = Readonly<Record<string, Value>>

/**
 * A table whose rows the ledger records (L20). Every entry that changes a row contains the new row in
 * `data.stored.<name>`; the entry of a deletion contains its key in `data.dropped.<name>`.
 */
export type RecordedTable = {
  readonly name: string
  readonly table: string
  /** The type of entry for existing rows, as a literal that a search finds. */
  readonly baseline: string
  readonly key: readonly string[]
  /** Columns that change without an entry and affect no decision. */
  readonly ignoredColumns?: readonly string[]
  /** Columns with erasable content: the ledger records their digest. */
  readonly digestedColumns?: readonly string[]
  describe(row: RecordedRow): string
  /** A time column that an entry advances up to the time of the entry; `findKey` returns the key of the row. */
  readonly moves?: {
    readonly column: string
    findKey(type: string, entry: UnverifiedEntry): readonly unknown[] | undefined
  }
}

/** Reads every entry of a ledger in order, then compares the result with the tables of the store. */
export type Replay = {
  read(seq: number, type: string, entry: UnverifiedEntry): void
  compare(): Promise<readonly LedgerProblem[]>
}

const baselinedType = 'ledger.baselined'
const scanSize = 1000

/**
 * Builds the part of an entry's `data` that records a row. `before` is the previous row, or null: its digest shows whether
 * the row was changed outside cowork since the last entry. Omitted if a person sets or ends a row, which repairs a forged
 * row.
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

/** Identifies rows whose key was redacted: a name may look like a credential. */
const keyDigest = ({ key }: RecordedTable, row: RecordedRow): string =>
  sha256Hex(canonicalJson(key.map((column) => row[column] ?? null))).slice(0, 32)

/** Ignores null and 0: later columns are null in older rows and 0 after such a row is written. */
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
 * Creates a replay, in which the last recorded row applies. A baseline records the rows of an older store and ends with
 * `ledger.baselined`; later baselines are ignored, so that a forged row cannot be recorded by one.
 */
export function createReplay(table: RecordedTable, db: Snapshot): Replay {
  type ReplayedRow = { readonly row: RecordedRow; readonly seq: number; until?: number }
  const { name, key, moves, ignoredColumns = [] } = table
  const rows = new Map<string, ReplayedRow>()
  /** Digests of redacted keys: these rows cannot be compared. */
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

  /** Returns whether a change started from the recorded row. A redacted row has no digest to compare. */
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
        `${column} is ${formatValue(inStore)} in the store and ${formatValue(inLedger)} in the ledger`,
      ]
    })
    return found.length > 0 ? found.join('; ') : undefined
  }

  async function compare(): Promise<readonly LedgerProblem[]> {
    // Without a baseline, no daemon that records rows has opened this store. No version writes rows before the first entry.
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
 * Records existing rows once per table. The daemon calls this before other writes; changes that another daemon of the same
 * database records take precedence over the baseline.
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
    // Read after the rows, which were committed with entries.
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

/** Returns whether a value equals the recorded one. A redacted part matches any text. */
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
