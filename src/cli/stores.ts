import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fsyncFolderSync } from '#base/atomic-file.ts'
import { systemClock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import { copyTables, hasRows, tableNames } from '#base/db/copy.ts'
import type { CopyResult, OnTableCopied } from '#base/db/copy.ts'
import { migrate } from '#base/db/migrate.ts'
import type { Db, StoreImport, Snapshot } from '#base/db/port.ts'
import { openPostgresImport, openPostgres, readPostgres } from '#base/db/postgres.ts'
import { openSqliteImport, checkIntegrity, openSqlite, readSqlite } from '#base/db/sqlite.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { silentLog } from '#base/log.ts'
import { databaseSource, verifyLedger } from '#ledger'
import type { HeadMac, Verification } from '#ledger'
import { migrations, createReplays } from '../app.ts'

export type StoreLocation = { readonly path: string } | { readonly url: string }

export const toStoreLocation = ({ url, path }: Config['storage']): StoreLocation =>
  url ? { url } : { path }

/** Formats a location for people, without its password. */
export function formatStoreLocation(place: StoreLocation): string {
  if ('path' in place) return place.path
  const url = new URL(place.url)
  url.password = ''
  return url.href
}

export async function readStore(place: StoreLocation): Promise<Snapshot> {
  if ('url' in place) return readPostgres(place.url)
  if (!existsSync(place.path))
    throw new CoworkError('not_found', `Store not found: ${place.path}.`, {
      hint: 'Name another state directory with --state.',
    })
  return readSqlite(place.path)
}

export type CopyOptions = {
  /** Checkpoints stored outside the database: the copy must match them too. */
  readonly outside: readonly { readonly size: number; readonly note: string }[]
  readonly vkey?: string | undefined
  /** Derived from the private key: the newest entries of a running daemon are not signed yet. */
  readonly mac?: HeadMac | undefined
  readonly onCopied?: OnTableCopied
  readonly onChecked?: (entries: number) => void
  readonly addExtraTables?: (storeImport: StoreImport) => Promise<void>
}

export type StoreCopy = {
  readonly tables: readonly CopyResult[]
  readonly verification: Verification
  /** Makes the copy visible. */
  publish(): Promise<void>
  abandon(): Promise<void>
}

/**
 * Copies a store into a new one on either engine: SQLite as a file that is renamed at the end, PostgreSQL in one
 * transaction. After an interruption the source is unchanged, and the copy can start again.
 */
export async function copyStore(
  from: Snapshot,
  to: StoreLocation,
  options: CopyOptions,
): Promise<StoreCopy> {
  const schema = await readMigrations(from)
  const target = 'path' in to ? await sqliteTarget(to.path) : await postgresTarget(to.url)
  const openImport = async () => {
    try {
      await migrate(target.schema, schema, systemClock())
    } finally {
      await target.schema.close()
    }
    return target.fill()
  }
  const storeImport = await openImport().catch(
    (error: unknown) => (target.clear(), throwCopyError(error)),
  )
  const abandon = async () => {
    await storeImport.close()
    target.clear()
  }
  try {
    await assertEmpty(storeImport)
    const tables = await copyTables(from, storeImport, options.onCopied)
    await options.addExtraTables?.(storeImport)
    const { source, vkey = '' } = await databaseSource(storeImport, options.outside)
    const verification = await verifyLedger(source, options.vkey ?? vkey, {
      mac: options.mac,
      onProgress: (entries) => options.onChecked?.(entries),
      replays: createReplays(storeImport),
    })
    const publish = async () => {
      await storeImport.commit()
      await storeImport.close()
      target.publish()
    }
    return { tables, verification, publish: () => publish().catch(throwCopyError), abandon }
  } catch (error) {
    await abandon()
    return throwCopyError(error)
  }
}

type Target = {
  readonly schema: Db
  fill(): StoreImport | Promise<StoreImport>
  publish(): void
  clear(): void
}

async function sqliteTarget(path: string): Promise<Target> {
  const part = `${path}.part`
  const clear = () => {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(part + suffix, { force: true })
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  clear()
  // Private: the file may contain the signing key.
  closeSync(openSync(part, 'wx', 0o600))
  return {
    schema: openSqlite(part),
    fill: () => openSqliteImport(part),
    publish() {
      checkFile(part)
      renameSync(part, path)
      fsyncFolderSync(dirname(path))
    },
    clear,
  }
}

async function postgresTarget(url: string): Promise<Target> {
  await using present = await readPostgres(url)
  await assertEmpty(present)
  return {
    schema: await openPostgres({ url, log: silentLog }),
    fill: () => openPostgresImport(url),
    publish: () => undefined,
    clear: () => undefined,
  }
}

/** Checks every page of the file on disk. */
export function checkFile(path: string): void {
  const result = checkIntegrity(path)
  if (result !== 'ok')
    throw new CoworkError('store_damaged', `Damaged file: ${path}: ${result}`, {
      hint: 'Check the disk, then try again.',
    })
}

/** Returns the migrations of this store, so that the copy has the same schema version. */
async function readMigrations(from: Snapshot) {
  if (!(await tableNames(from)).includes('migration'))
    throw new CoworkError('not_a_store', 'Not a cowork store.', {
      hint: 'Check storage.path or storage.url, or the file you named.',
    })
  const done = await from.all<{ name: string }>({
    sql: 'SELECT name FROM migration',
    parameters: [],
  })
  const names = new Set(done.map(({ name }) => name))
  const applied = migrations.filter(({ name }) => names.delete(name))
  if (names.size > 0)
    throw new CoworkError(
      'store_is_newer',
      `The store was written by a newer version of cowork: it has ${[...names].join(', ')}.`,
      { hint: 'Use the newer version.' },
    )
  return applied
}

/** Tables that have rows in a new store. */
const initialTables = ['migration', 'ledger_head']

async function assertEmpty(target: Snapshot): Promise<void> {
  for (const table of await tableNames(target))
    if (!initialTables.includes(table) && (await hasRows(target, table)))
      throw new CoworkError('store_not_empty', `Target not empty: table ${table} has rows.`, {
        hint: 'Name an empty database. Nothing was changed.',
      })
}

function throwCopyError(cause: unknown): never {
  if (cause instanceof CoworkError) throw cause
  throw new CoworkError('copy_failed', `Cannot copy the store: ${errorMessage(cause)}`, {
    hint: 'Fix the cause and run the command again. The source is unchanged.',
    cause,
  })
}
