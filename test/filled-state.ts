import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { appendLine } from '../src/base/atomic-file.ts'
import { migrate } from '../src/base/db/migrate.ts'
import { openSqlite } from '../src/base/db/sqlite.ts'
import { systemActor } from '../src/base/entry.ts'
import { silentLog } from '../src/base/log.ts'
import { ensureStateDir, readOrCreateOwnerToken, statePaths } from '../src/base/state.ts'
import { migrations } from '../src/app.ts'
import { createRedactor, createSealer, loadOrCreateKey, openLedger } from '../src/ledger/index.ts'

/** Creates the state directory of a stopped daemon with this many ledger entries in SQLite. */
export async function fillState(state: string, entries: number): Promise<void> {
  const paths = statePaths(state)
  ensureStateDir(paths)
  readOrCreateOwnerToken(paths)
  const copies = join(state, 'checkpoints')
  mkdirSync(copies, { recursive: true })
  const sealer = createSealer('sqlite', createRedactor({ secrets: [], patterns: [] }), Date.now)
  const db = openSqlite(paths.store, sealer)
  await migrate(db, migrations, Date.now())
  const ledger = await openLedger({
    db,
    sealer,
    openKey: (known) => loadOrCreateKey(paths, known),
    copyCheckpoint: (line) => appendLine(join(copies, 'checkpoints.jsonl'), line),
    now: Date.now,
    log: silentLog,
  })
  for (let done = 0; done < entries; done += 500)
    await ledger.transact(async (tx) => {
      for (let i = done; i < Math.min(entries, done + 500); i++)
        tx.append({ type: 'note.taken', actor: systemActor, subject: `n${i}`, payload: { i } })
    })
  const stop = new AbortController()
  await ledger.runFollower('reader', async () => stop.abort(), stop.signal)
  await ledger.close()
  await db.close()
}
