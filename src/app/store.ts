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
import { migrations, recordedTables, replaysOf } from './loaded-modules.ts'
import type { StartupContext } from './startup.ts'

export type Store = Awaited<ReturnType<typeof openStore>>

/** The store with its ledger attached: neither is to be had without the other. */
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
  if (backup) log.info('the store was upgraded', { applied, backup })
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
  return { db, ledger, redact }
}

/** The copy of the ledger, and the log of file operations beside it (L9). */
async function startMirrors(
  { mirror }: Ledger,
  { log_path: path, max_log_size_mb: size }: Config['audit'],
  ledgerMirror: string,
  log: Log,
) {
  if (path === ledgerMirror)
    throw new CoworkError('config_invalid', `audit.log_path is ${path}, the copy of the ledger.`, {
      hint: 'Name another file: audit.log_path holds file operations.',
    })
  const maxBytes = size * 1_000_000
  if (await moveLedgerMirror(path, ledgerMirror))
    log.info('ledger mirror: moved, since audit.log_path now holds file operations', {
      from: path,
      to: ledgerMirror,
    })
  mirror({ path: ledgerMirror, maxBytes })
  mirror({ path, maxBytes, toLines: toFileOperations })
}

const retryAfter = 500

/**
 * What another daemon of the same database changes from now on: agents it adds, policies it saves. A database that
 * goes away is said once, and followed again when it is back.
 */
export async function followOtherDaemons({ log, undo }: StartupContext, { db, ledger }: Store) {
  const from = await ledger.size()
  return (noun: string, refresh: () => Promise<void>): void => {
    if (db.dialect !== 'postgres') return
    const stop = new AbortController()
    const { signal } = stop
    let seen = from
    let isBroken = false

    async function follow() {
      for await (const entries of ledger.follow(seen, signal)) {
        if (entries.some(({ type }) => type.startsWith(noun))) await refresh()
        // Only now: what could not be read again comes once more.
        seen = entries.at(-1)?.seq ?? seen
        if (isBroken) log.info('what other daemons change is followed again', { noun })
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
            log.error('what other daemons change cannot be followed', {
              noun,
              error: errorMessage(error),
            })
          isBroken = true
          await sleep(retryAfter, undefined, { signal }).catch(() => undefined)
        }
    }
    void run()
    undo.add(() => stop.abort())
  }
}

/** The ledger as it stands now, with the copies of its checkpoints, for checking it while it is written. */
export async function openLedgerSnapshot({ storage: { url, path }, ledger }: Config) {
  // Before the store: a copy that is read later may be ahead of what we see of the store.
  const outside = readCheckpointCopies(ledger.checkpoint_copies)
  const db = url ? await readPostgres(url) : readSqlite(path)
  const { source } = await databaseSource(db, outside)
  return { source, replays: replaysOf(db), close: () => db.close() }
}
