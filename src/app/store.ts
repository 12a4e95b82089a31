import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '#base/config/index.ts'
import { migrate } from '#base/db/migrate.ts'
import type { Db } from '#base/db/port.ts'
import { openPostgres, readPostgres } from '#base/db/postgres.ts'
import { openSqlite, readSqlite } from '#base/db/sqlite.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { collectGarbageWhenIdle } from '#base/idle-gc.ts'
import type { Log } from '#base/log.ts'
import {
  createCheckpointCopies,
  createRedactor,
  createScrubber,
  createSealer,
  databaseSource,
  toFileOperations,
  moveLedgerMirror,
  loadOrCreateKey,
  openLedger,
  readCheckpointCopies,
  assertNotTruncated,
  writeBaselines,
} from '#ledger'
import type { Ledger } from '#ledger'
import { migrations, recordedTables, createReplays } from './loaded-modules.ts'
import type { StartupContext } from './startup.ts'

export type Store = Awaited<ReturnType<typeof openStore>>

/** Opens the store together with its ledger. */
export async function openStore(
  { config, paths, log, secrets = [], now, metrics, undo }: StartupContext,
  owner: string,
) {
  const { url, path } = config.storage
  const redact = createRedactor({
    secrets: [owner, ...secrets],
    patterns: [...config.audit.redact],
  })
  const sealer = createSealer(url ? 'postgres' : 'sqlite', redact, now)
  const counted = metrics.countCommits(sealer)
  const db: Db = url
    ? await openPostgres({ url, sealer: counted, log: log.scope('store') })
    : openSqlite(path, counted, { preallocateLog: true })
  undo.add(() => db.close())
  undo.add(collectGarbageWhenIdle(db.onAppend))
  const { applied, backup } = await migrate(db, migrations, now())
  if (backup) log.info('store upgraded', { applied, backup })
  const { checkpoint_copies: copies } = config.ledger
  const ledger: Ledger = await openLedger({
    db,
    sealer,
    openKey: (known) =>
      loadOrCreateKey(
        { ledgerKey: config.ledger.key_path, ledgerPublicKey: paths.ledgerPublicKey },
        known,
      ),
    copyCheckpoint: createCheckpointCopies(copies, log.scope('ledger')),
    assertSize: (size) => assertNotTruncated(copies, size),
    now,
    log: log.scope('ledger'),
  })
  undo.add(() => ledger.close())
  await writeBaselines(db, recordedTables)
  const { audit } = config
  if (audit.enabled) await startMirrors(ledger, audit, paths.ledgerMirror, log)
  if (audit.payload_days > 0) ledger.startPayloadExpiry(audit.payload_days)
  const { scrub: maskSecrets } = createScrubber({
    secrets: [owner, ...secrets],
    patterns: config.audit.redact,
    ignoresNames: true,
  })
  return { db, ledger, redact, maskSecrets }
}

/** Starts the ledger mirror and the log of file operations (L9). */
async function startMirrors(
  { mirror }: Ledger,
  { log_path: path, max_log_size_mb: size }: Config['audit'],
  ledgerMirror: string,
  log: Log,
) {
  if (path === ledgerMirror)
    throw new CoworkError(
      'config_invalid',
      `audit.log_path is ${path}, the path of the ledger mirror.`,
      {
        hint: 'Set another path: audit.log_path contains file operations.',
      },
    )
  const maxBytes = size * 1_000_000
  if (await moveLedgerMirror(path, ledgerMirror))
    log.info('ledger mirror moved, audit.log_path now contains file operations', {
      from: path,
      to: ledgerMirror,
    })
  mirror({ path: ledgerMirror, maxBytes })
  mirror({ path, maxBytes, toLines: toFileOperations })
}

const retryDelayMs = 500

/**
 * Follows changes by other daemons of the same database: added agents, saved policies. It logs a
 * lost database once and continues when the database is back.
 */
export async function followOtherDaemons({ log, undo }: StartupContext, { db, ledger }: Store) {
  const from = await ledger.size()
  return (noun: string, refresh: () => Promise<void>): void => {
    if (db.dialect !== 'postgres') return
    const stop = new AbortController()
    const { signal } = stop
    let lastSeq = from
    let isBroken = false

    async function follow() {
      for await (const entries of ledger.follow(lastSeq, signal)) {
        if (entries.some(({ type }) => type.startsWith(noun))) await refresh()
        // Updated after the refresh, so a failed refresh is repeated.
        lastSeq = entries.at(-1)?.seq ?? lastSeq
        if (isBroken) log.info('following of other daemons restored', { noun })
        isBroken = false
      }
    }

    async function run() {
      while (!signal.aborted)
        try {
          await follow()
        } catch (error) {
          if (signal.aborted) return
          if (!isBroken)
            log.error('following of other daemons failed', {
              noun,
              error: errorMessage(error),
            })
          isBroken = true
          await sleep(retryDelayMs, undefined, { signal }).catch(() => undefined)
        }
    }
    void run()
    undo.add(() => stop.abort())
  }
}

/** Opens a snapshot of the ledger and its checkpoint copies, to verify it during writes. */
export async function openLedgerSnapshot({ storage: { url, path }, ledger }: Config) {
  // Read before the store: a later copy may be ahead of the store snapshot.
  const outside = readCheckpointCopies(ledger.checkpoint_copies)
  const db = url ? await readPostgres(url) : readSqlite(path)
  const { source } = await databaseSource(db, outside)
  return { source, replays: createReplays(db), close: () => db.close() }
}
