import { existsSync, readFileSync } from 'node:fs'
import { systemClock } from '#base/clock.ts'
import { migrate } from '#base/db/migrate.ts'
import { isInUse, openPostgres } from '#base/db/postgres.ts'
import { openSqlite } from '#base/db/sqlite.ts'
import { CoworkError } from '#base/errors.ts'
import { silentLog } from '#base/log.ts'
import { acquireLock } from '#base/state.ts'
import { ownerId } from '#identity'
import {
  acceptEntries,
  createCheckpointCopies,
  createHeadMac,
  createRedactor,
  createSealer,
  loadKey,
  openLedger,
  verifyLedger,
  verifyTail,
} from '#ledger'
import { migrations } from '../app.ts'
import { formatEntryRange, openStoredLedger } from './audit-verify.ts'
import type { Context } from './context.ts'
import { requirePersonAtTerminal } from './person.ts'
import { loadSettings } from './settings.ts'
import type { Settings } from './settings.ts'
import { ledgerInvalidError } from './storage.ts'

/**
 * Accepts entries without signature and MAC (L14) after the owner has inspected them. The ledger must be consistent
 * and match every known checkpoint; restore a modified one from a backup instead.
 */
export async function accept(context: Context, { reason }: { reason: string }): Promise<void> {
  requirePersonAtTerminal(context, 'Accepting ledger entries')
  const settings = await loadSettings(context)
  const { config } = settings
  using lock = new DisposableStack()
  lock.defer(acquireLock(context.paths))
  const { from, to } = await findUnsignedRange(context, settings)
  const key = loadSigningKey(config.ledger.key_path)
  const { url, path } = config.storage
  const redact = createRedactor({ secrets: settings.secrets, patterns: [...config.audit.redact] })
  const sealer = createSealer(url ? 'postgres' : 'sqlite', redact, systemClock)
  sealer.useKey(key)
  const db = url ? await openPostgres({ url, sealer, log: silentLog }) : openSqlite(path, sealer)
  try {
    await migrate(db, migrations, systemClock())
    const actor = { kind: 'human', id: ownerId } as const
    await acceptEntries(db, createHeadMac(key), { from, to, reason, actor })
    const ledger = await openLedger({
      db,
      sealer,
      openKey: () => key,
      copyCheckpoint: createCheckpointCopies(config.ledger.checkpoint_copies, silentLog),
      now: systemClock,
      log: silentLog,
    })
    await ledger.close()
  } finally {
    await db.close()
  }
  context.out.data({ from, to, reason }, () => [
    `Accepted ${formatEntryRange({ from, to })}. \`cowork audit verify\` now shows this range and the reason.`,
  ])
}

async function findUnsignedRange(context: Context, settings: Settings) {
  await using ledger = await openStoredLedger(context, settings)
  if (ledger.db.dialect === 'postgres' && (await isInUse(ledger.db)))
    throw new CoworkError(
      'daemon_running',
      'A daemon with another state directory uses this database.',
      {
        hint: 'Stop every daemon that shares the database first.',
      },
    )
  const { mac } = ledger
  const verification = await verifyLedger(ledger.source, ledger.vkey, { mac })
  const { unsigned, acceptable } = verification
  if (acceptable && unsigned) return unsigned
  if (verification.firstBad)
    throw ledgerInvalidError(verification, 'Restore a backup with `cowork restore`.')
  // Checkpoint copies may prove entries that the store does not; the daemon refuses such a store anyway.
  const { problem, signed, size } = await verifyTail(ledger.db, ledger.vkey, { mac, minEntries: 1 })
  if (problem) return { from: signed + 1, to: size }
  throw new CoworkError('nothing_to_accept', 'Every entry is signed or covered by a MAC.', {
    hint: 'Start the daemon with `cowork up`.',
  })
}

function loadSigningKey(path: string) {
  if (existsSync(path)) return loadKey(readFileSync(path, 'utf8'))
  throw new CoworkError('ledger_key_missing', `Signing key not found: ${path}.`, {
    hint: 'Copy the key from a backup.',
  })
}
