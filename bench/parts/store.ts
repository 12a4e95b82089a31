// A store with the real ledger, built as in app.ts, without the rest of the daemon.
import { join } from 'node:path'
import { appendLine } from '#base/atomic-file.ts'
import { systemClock } from '#base/clock.ts'
import { migrate } from '#base/db/migrate.ts'
import type { Migration } from '#base/db/migrate.ts'
import { openPostgres, readPostgres } from '#base/db/postgres.ts'
import { openSqlite, readSqlite } from '#base/db/sqlite.ts'
import { silentLog } from '#base/log.ts'
import { statePaths } from '#base/state.ts'
import {
  createRedactor,
  createSealer,
  databaseSource,
  ledgerMigrations,
  loadOrCreateKey,
  openLedger,
  readCheckpoints,
  readHeadMac,
  verifyLedger,
} from '#ledger'
import type { Verification } from '#ledger'

/** `state` contains the key and, on SQLite, the store; `url` names a PostgreSQL database instead. */
export type Place = { readonly state: string; readonly url?: string | undefined }

const copiesPath = (state: string) => join(state, 'checkpoints.jsonl')

export async function openRecorded({ state, url }: Place, migrations: readonly Migration[] = []) {
  const paths = statePaths(state)
  const redact = createRedactor({ secrets: [], patterns: [] })
  const sealer = createSealer(url ? 'postgres' : 'sqlite', redact, systemClock)
  const db = url
    ? await openPostgres({ url, sealer, log: silentLog })
    : openSqlite(paths.store, sealer)
  await migrate(db, [...ledgerMigrations, ...migrations], systemClock())
  const ledger = await openLedger({
    db,
    sealer,
    openKey: (known) => loadOrCreateKey(paths, known),
    copyCheckpoint: (line) => appendLine(copiesPath(state), line),
    now: systemClock,
    log: silentLog,
  })
  return {
    db,
    ledger,
    sealer,
    async close() {
      await ledger.close()
      await db.close()
    },
  }
}

/** Verifies like `cowork audit verify`, from the bytes in the store. */
export async function verifyStored(
  { state, url }: Place,
  onProgress: (entries: number) => void = () => undefined,
): Promise<Verification> {
  const outside = readCheckpoints(copiesPath(state))
  const db = url ? await readPostgres(url) : readSqlite(statePaths(state).store)
  const { source, vkey } = await databaseSource(db, outside)
  if (vkey === undefined) throw new Error('the ledger has no key')
  try {
    return await verifyLedger(source, vkey, {
      mac: readHeadMac(statePaths(state).ledgerKey),
      onProgress,
    })
  } finally {
    await db.close()
  }
}
