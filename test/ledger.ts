import { join } from 'node:path'
import type { Migration } from '#base/db/migrate.ts'
import type { Db } from '#base/db/port.ts'
import { silentLog } from '#base/log.ts'
import {
  createRedactor,
  createSealer,
  ledgerMigrations,
  loadOrCreateKey,
  openLedger,
} from '#ledger'
import type { Entry, Ledger } from '#ledger'
import { openMigrated, storeFolder } from './stores.ts'

export type TestLedger = {
  readonly db: Db
  readonly ledger: Ledger
  entries(): Promise<Entry[]>
  close(): Promise<void>
}

/** Opens the real ledger on a SQLite file, for tests of other modules. */
export async function openTestLedger(migrations: readonly Migration[] = []): Promise<TestLedger> {
  const folder = storeFolder()
  const sealer = createSealer('sqlite', createRedactor({ secrets: [], patterns: [] }), Date.now)
  const db = await openMigrated(join(folder, 'cowork.db'), sealer, [
    ...ledgerMigrations,
    ...migrations,
  ])
  const ledger = await openLedger({
    db,
    sealer,
    openKey: (known) =>
      loadOrCreateKey(
        { ledgerKey: join(folder, 'key'), ledgerPublicKey: join(folder, 'pub') },
        known,
      ),
    copyCheckpoint: () => undefined,
    now: Date.now,
    log: silentLog,
  })
  return {
    db,
    ledger,
    entries: () => ledger.find({ limit: 1000 }),
    async close() {
      await ledger.close()
      await db.close()
    },
  }
}
