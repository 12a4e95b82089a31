import type { Migration } from '#base/db/migrate.ts'
import type { Snapshot } from '#base/db/port.ts'
import { createReplay } from '#ledger'
import type { RecordedTable, Replay } from '#ledger'
import type { LoadedModule } from './module.ts'
import { modules } from './modules.ts'

type Load = () => Promise<{ readonly module: LoadedModule }>
const loads = modules.flatMap((manifest): Load[] => ('load' in manifest ? [manifest.load] : []))

export const loadedModules: readonly LoadedModule[] = await Promise.all(
  loads.map(async (load) => (await load()).module),
)

/** Every step of the store's schema, in order. */
export const migrations: readonly Migration[] = loadedModules.flatMap(
  (module) => module.migrations ?? [],
)

/** The tables whose rows the ledger records, so that `verify` finds changed rows (L20). */
export const recordedTables: readonly RecordedTable[] = loadedModules.flatMap(
  (module) => module.tables ?? [],
)

/** For verifying the ledger of this store. */
export const createReplays = (db: Snapshot): readonly Replay[] =>
  recordedTables.map((table) => createReplay(table, db))
