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
import { migrations, replaysOf } from '../app.ts'

export type StoreLocation = { readonly path: string } | { readonly url: string }

export const toStoreLocation = ({ url, path }: Config['storage']): StoreLocation =>
  url ? { url } : { path }

/** A place as it may be shown: without its password. */
export function formatStoreLocation(place: StoreLocation): string {
  if ('path' in place) return place.path
  const url = new URL(place.url)
  url.password = ''
  return url.href
}

export async function readStore(place: StoreLocation): Promise<Snapshot> {
  if ('url' in place) return readPostgres(place.url)
  if (!existsSync(place.path))
    throw new CoworkError('not_found', `There is no store at ${place.path}.`, {
      hint: 'Name another state folder with --state.',
    })
  return readSqlite(place.path)
}

export type CopyOptions = {
  /** Checkpoints that were kept outside the store: the copy must fit them as well. */
  readonly outside: readonly { readonly size: number; readonly note: string }[]
  readonly vkey?: string | undefined
  /** From the private key: the newest entries of a running daemon are not signed yet. */
  readonly mac?: HeadMac | undefined
  readonly onCopied?: OnTableCopied
  readonly onChecked?: (entries: number) => void
  readonly also?: (filling: StoreImport) => Promise<void>
}

export type StoreCopy = {
  readonly tables: readonly CopyResult[]
  readonly verification: Verification
  /** Until now nobody could see it. */
  publish(): Promise<void>
  abandon(): Promise<void>
}

/**
 * A whole store into a new one, on whichever engine: SQLite as a file that gets its name at the end,
 * PostgreSQL in one transaction. However it is interrupted, the source is as it was and it can begin again.
 */
export async function copyStore(
  from: Snapshot,
  to: StoreLocation,
  options: CopyOptions,
): Promise<StoreCopy> {
  const schema = await migrationsOf(from)
  const target = 'path' in to ? await sqliteTarget(to.path) : await postgresTarget(to.url)
  const fill = async () => {
    try {
      await migrate(target.schema, schema, systemClock())
    } finally {
      await target.schema.close()
    }
    return target.fill()
  }
  const filling = await fill().catch((error: unknown) => (target.clear(), fail(error)))
  const abandon = async () => {
    await filling.close()
    target.clear()
  }
  try {
    await refuseUsed(filling)
    const tables = await copyTables(from, filling, options.onCopied)
    await options.also?.(filling)
    const { source, vkey = '' } = await databaseSource(filling, options.outside)
    const verification = await verifyLedger(source, options.vkey ?? vkey, {
      mac: options.mac,
      onProgress: (entries) => options.onChecked?.(entries),
      replays: replaysOf(filling),
    })
    const publish = async () => {
      await filling.commit()
      await filling.close()
      target.finish()
    }
    return { tables, verification, publish: () => publish().catch(fail), abandon }
  } catch (error) {
    await abandon()
    return fail(error)
  }
}

type Target = {
  readonly schema: Db
  fill(): StoreImport | Promise<StoreImport>
  finish(): void
  clear(): void
}

async function sqliteTarget(path: string): Promise<Target> {
  const part = `${path}.part`
  const clear = () => {
    for (const end of ['', '-journal', '-wal', '-shm']) rmSync(part + end, { force: true })
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  clear()
  // It may hold the signing key, wherever it lies.
  closeSync(openSync(part, 'wx', 0o600))
  return {
    schema: openSqlite(part),
    fill: () => openSqliteImport(part),
    finish() {
      checkFile(part)
      renameSync(part, path)
      fsyncFolderSync(dirname(path))
    },
    clear,
  }
}

async function postgresTarget(url: string): Promise<Target> {
  await using present = await readPostgres(url)
  await refuseUsed(present)
  return {
    schema: await openPostgres({ url, log: silentLog }),
    fill: () => openPostgresImport(url),
    finish: () => undefined,
    clear: () => undefined,
  }
}

/** Reads every page of the file anew, as it is on disk. */
export function checkFile(path: string): void {
  const found = checkIntegrity(path)
  if (found !== 'ok')
    throw new CoworkError('store_damaged', `The file ${path} is damaged: ${found}`, {
      hint: 'Check the disk, then try again.',
    })
}

/** The steps that made the schema of this store, so that its copy is no newer. */
async function migrationsOf(from: Snapshot) {
  if (!(await tableNames(from)).includes('migration'))
    throw new CoworkError('not_a_store', 'This is not a store of cowork.', {
      hint: 'Check storage.path or storage.url, or the file you named.',
    })
  const done = await from.all<{ name: string }>({
    sql: 'SELECT name FROM migration',
    parameters: [],
  })
  const names = new Set(done.map(({ name }) => name))
  const known = migrations.filter(({ name }) => names.delete(name))
  if (names.size > 0)
    throw new CoworkError(
      'store_is_newer',
      `The store was written by a newer version of cowork: it has ${[...names].join(', ')}.`,
      { hint: 'Use the newer program.' },
    )
  return known
}

/** Rows that a new store has from the start. */
const fromTheStart = ['migration', 'ledger_head']

async function refuseUsed(target: Snapshot): Promise<void> {
  for (const table of await tableNames(target))
    if (!fromTheStart.includes(table) && (await hasRows(target, table)))
      throw new CoworkError(
        'store_not_empty',
        `The target is in use: its table ${table} has rows.`,
        {
          hint: 'Name an empty database; nothing there was changed.',
        },
      )
}

function fail(cause: unknown): never {
  if (cause instanceof CoworkError) throw cause
  throw new CoworkError('copy_failed', `The store could not be copied: ${errorMessage(cause)}`, {
    hint: 'The source is as it was. Mend what is named and run it again.',
    cause,
  })
}
