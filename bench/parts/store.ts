// A store with the real ledger on it, as app.ts puts it together, and nothing else of the daemon.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '#base/clock.ts'
import { migrate } from '#base/db/migrate.ts'
import type { Migration } from '#base/db/migrate.ts'
import { openPostgres } from '#base/db/postgres.ts'
import type { Sealer } from '#base/db/port.ts'
import { openSqlite } from '#base/db/sqlite.ts'
import { silentLog } from '#base/log.ts'
import { statePaths } from '#base/state.ts'
import { createRedactor, createSealer, ledgerMigrations, openKey, openLedger } from '#ledger'

/** `state` holds the key and, on SQLite, the store; `url` names a PostgreSQL database. */
export async function openRecorded(
  { state, url }: { state: string; url?: string | undefined },
  migrations: readonly Migration[] = [],
) {
  const paths = statePaths(state)
  const sealer = createSealer(
    url ? 'postgres' : 'sqlite',
    createRedactor({ secrets: [], patterns: [] }),
    systemClock,
  )
  const stored = sealer as unknown as Sealer
  const db = url
    ? await openPostgres({ url, sealer: stored, log: silentLog })
    : openSqlite(join(state, 'cowork.db'), stored)
  await migrate(db, [...ledgerMigrations, ...migrations], systemClock())
  const ledger = await openLedger({
    db,
    sealer,
    openKey: (known) => openKey(paths, known),
    copyCheckpoint: (line) => appendFileSync(paths.checkpoints, `${line}\n`),
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
