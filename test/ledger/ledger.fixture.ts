import { join } from 'node:path'
import { migrate } from '#base/db/migrate.ts'
import type { Db, Dialect, Sealer, Snapshot } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { EntryDraft } from '#base/entry.ts'
import { canonicalJson } from '#base/hash.ts'
import { silentLog } from '#base/log.ts'
import { toIndexColumns, genesisHash } from '../../src/ledger/model.ts'
import type { HeadMac } from '../../src/ledger/head-mac.ts'
import { loadOrCreateKey, readHeadMac } from '../../src/ledger/key-file.ts'
import { ledgerMigrations } from '../../src/ledger/migrations.ts'
import type { Entry, PreparedEntry } from '../../src/ledger/model.ts'
import { createRedactor } from '../../src/ledger/redact.ts'
import { createSealer } from '../../src/ledger/sealer.ts'
import { openLedger } from '../../src/ledger/service.ts'
import { databaseSource } from '../../src/ledger/sources.ts'
import { appendLeaf, emptyFrontier, encodeFrontier, leafHash } from '../../src/ledger/tree.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { storeFolder } from '../stores.ts'

export type Engine = {
  readonly dialect: 'sqlite' | 'postgres'
  /** Creates a new store. */
  create(): Promise<{
    open(sealer: Sealer<PreparedEntry>): Promise<Db>
    snapshot(): Promise<Snapshot>
    /** Changes the database like an attacker. */
    tamper(...sql: string[]): Promise<void>
  }>
}

export const buildDraft = (type: string, more: Partial<EntryDraft> = {}): EntryDraft => ({
  type,
  actor: systemActor,
  ...more,
})

/** A ledger in a separate store, to start, stop, change and verify. */
export async function setupLedger(engine: Engine) {
  const store = await engine.create()
  const folder = storeFolder()
  const files = {
    ledgerKey: join(folder, 'ledger.key'),
    ledgerPublicKey: join(folder, 'ledger.pub'),
  }
  const copies: { size: number; note: string }[] = []
  let time = 1_700_000_000_000
  const start = async () => {
    const redact = createRedactor({ secrets: [], patterns: [] })
    const sealer = createSealer(engine.dialect, redact, () => time)
    const db = await store.open(sealer)
    await migrate(db, ledgerMigrations, time)
    const ledger = await openLedger({
      db,
      sealer,
      openKey: (known) => loadOrCreateKey(files, known),
      copyCheckpoint: (line) => void copies.push(JSON.parse(line)),
      now: () => time,
      log: silentLog,
    })
    return {
      db,
      ledger,
      stop: async () => (await ledger.close(), await db.close()),
      /** Stops without the last checkpoint. */
      crash: () => db.close(),
    }
  }
  /** Opens the store like `cowork ledger accept`. */
  const openUnchecked = async () => {
    const sealer = createSealer(
      engine.dialect,
      createRedactor({ secrets: [], patterns: [] }),
      () => time,
    )
    sealer.useKey(loadOrCreateKey(files, undefined))
    const db = await store.open(sealer)
    return { db, close: () => db.close() }
  }
  const verify = async (deep = true, mac?: HeadMac) => {
    const snapshot = await store.snapshot()
    const { source, vkey } = await databaseSource(snapshot, copies)
    const result = await verifyLedger(source, vkey ?? '', { deep, mac })
    await snapshot.close()
    return result
  }
  /** Verifies with the private key. */
  const headMac = () => readHeadMac(files.ledgerKey)
  return {
    ...store,
    headMac,
    openUnchecked,
    start,
    verify,
    copies,
    files,
    move: (ms: number) => (time += ms),
  }
}

/** Drops the triggers that protect entries, as an attacker with database access can. */
export const unlockEntries = (dialect: Dialect): string[] =>
  dialect === 'sqlite'
    ? ['DROP TRIGGER ledger_entry_no_update', 'DROP TRIGGER ledger_entry_no_delete']
    : ['DROP TRIGGER ledger_entry_fixed ON ledger_entry']

/** Rewrites the ledger of a store as consistently as possible without the key (RS1). */
export function forge(dialect: Dialect, entries: readonly Entry[]): string[] {
  const literal = (value: string | number | null) =>
    typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
  const insert = (table: string, row: Record<string, string | number | null>) =>
    `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.values(row).map(literal).join(', ')})`
  const statements = [
    ...unlockEntries(dialect),
    'DELETE FROM ledger_entry',
    'DELETE FROM ledger_node',
  ]
  let frontier = emptyFrontier
  let prev = genesisHash
  let at = 0
  for (const [i, each] of entries.entries()) {
    const entry = { ...each, seq: i + 1, prev }
    const body = canonicalJson(entry)
    const leaf = leafHash(body)
    prev = leaf.toString('hex')
    ;({ at } = entry)
    const { seq, type } = entry
    statements.push(
      insert('ledger_entry', { seq, at, type, ...toIndexColumns(entry), body, hash: prev }),
    )
    frontier = appendLeaf(frontier, leaf, (level, idx, hash) =>
      statements.push(insert('ledger_node', { level, idx, hash: hash.toString('hex') })),
    )
  }
  const { size } = frontier
  const head = { size, at, hash: prev, frontier: encodeFrontier(frontier) }
  const set = Object.entries(head).map(([name, value]) => `${name} = ${literal(value)}`)
  return [...statements, `UPDATE ledger_head SET ${set.join(', ')}`]
}
