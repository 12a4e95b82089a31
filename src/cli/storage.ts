import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isMap, parseDocument } from 'yaml'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { formatRfc3339, systemClock } from '#base/clock.ts'
import { currentFolders, expandPath, resolveReference } from '#base/config/index.ts'
import { isPostgresUrl, isReference } from '#base/config/field-types.ts'
import { isInUse } from '#base/db/postgres.ts'
import { CoworkError } from '#base/errors.ts'
import { ensureStateDir, acquireLock } from '#base/state.ts'
import type { Verification } from '#ledger'
import { externalLedgerFiles } from './audit-verify.ts'
import type { Context } from './context.ts'
import { usageError } from './exit.ts'
import { loadSettings } from './settings.ts'
import { copyStore, toStoreLocation, readStore, formatStoreLocation } from './stores.ts'
import type { StoreLocation } from './stores.ts'

/** The `storage` section of the configuration; empty for the default. */
export type StorageSetting = { readonly url?: string; readonly path?: string }

/** Parses `sqlite:<path>`, a postgres:// URL or a reference to one. Returns the location and its setting. */
export async function parseTarget(
  { paths, env }: Context,
  to: string,
): Promise<{ place: StoreLocation; setting: StorageSetting }> {
  if (to.startsWith('sqlite:')) {
    const { home, cwd } = currentFolders()
    const path = expandPath(to.slice('sqlite:'.length), home, cwd)
    return { place: { path }, setting: path === paths.store ? {} : { path } }
  }
  const asking = { env, interactive: process.stdin.isTTY }
  const url = isReference(to) ? await resolveReference(to, '--to', asking) : to
  if (!isPostgresUrl(url) || !URL.canParse(url))
    throw usageError(
      'Invalid --to: neither sqlite:<path> nor a postgres:// URL.',
      'Use sqlite:<path>, a postgres:// URL or a reference such as env:DATABASE_URL.',
    )
  return { place: { url }, setting: { url: to } }
}

/** Replaces a URL with a password by a reference, for screens and config files. */
function redactSetting({ url, path }: StorageSetting): StorageSetting {
  if (path !== undefined) return { path }
  if (url === undefined) return {}
  return { url: isReference(url) || new URL(url).password === '' ? url : 'env:DATABASE_URL' }
}

/** Changes only `storage`; keeps comments, and saves the old file beside the new one. */
function writeSetting(file: string, { url, path }: StorageSetting, stamp: string) {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  const document = parseDocument(before ?? '')
  if (!isMap(document.get('storage'))) document.set('storage', document.createNode({}))
  for (const [key, value] of Object.entries({ url, path, driver: undefined }))
    if (value === undefined) document.deleteIn(['storage', key])
    else document.setIn(['storage', key], value)
  const backup = `${file}.${stamp}.bak`
  if (before !== undefined) writeFileAtomic(backup, before)
  writeFileAtomic(file, document.toString({ lineWidth: 0 }))
  return { config: file, ...(before !== undefined && { backup }) }
}

export type MigrateOptions = { readonly to: string; readonly write?: boolean }

/** Copies the whole store from one engine to the other, while no daemon runs (SV7). The source is unchanged. */
export async function migrateStorage(context: Context, { to, write = false }: MigrateOptions) {
  const { paths, out } = context
  const { config } = await loadSettings(context)
  const from = toStoreLocation(config.storage)
  const { place, setting } = await parseTarget(context, to)
  if (formatStoreLocation(from) === formatStoreLocation(place))
    throw usageError('The store is already there.', 'Name another location with --to.')
  if ('path' in place && existsSync(place.path))
    throw usageError(`File exists: ${place.path}.`, 'Name a new file.')
  await using source = await readStore(from)
  ensureStateDir(paths)
  using lock = new DisposableStack()
  lock.defer(acquireLock(paths))
  if ('url' in from && (await isInUse(source)))
    throw new CoworkError(
      'daemon_running',
      'A daemon with another state directory uses this database.',
      {
        hint: 'Stop every daemon that uses the database: writes during the copy are lost.',
      },
    )
  const { tables, verification, publish, abandon } = await copyStore(source, place, {
    ...externalLedgerFiles(context, config),
    onCopied: (table, rows, of) => out.progress(`${table}: ${rows} of ${of} rows copied…`),
    onChecked: (entries) => out.progress(`${entries} entries checked…`),
  })
  if (verification.firstBad) {
    await abandon()
    throw ledgerInvalidError(
      verification,
      'Run `cowork audit verify` for details. Nothing was moved.',
    )
  }
  await publish()
  const configChange = write
    ? writeSetting(configPath(context), setting, fileTimestamp())
    : undefined
  const rows = tables.reduce((sum, each) => sum + each.rows, 0)
  const { entries, root } = verification
  const locations = { from: formatStoreLocation(from), to: formatStoreLocation(place) }
  const storage = redactSetting(setting)
  out.data({ ...locations, rows, tables, entries, root, storage, ...configChange }, () => [
    `Copied ${rows} rows to ${locations.to}. Ledger verified: ${entries} entries, root ${root}.`,
    ...(configChange ? [`Updated ${configChange.config}.`] : formatInstructions(storage)),
    `The old store is unchanged: ${locations.from}.`,
  ])
}

function formatInstructions({ url, path }: StorageSetting): string[] {
  if (url === undefined && path === undefined)
    return ['To use it, remove storage.url from the configuration: the file is the default.']
  return [
    'To use it, replace the storage section of the configuration:',
    'storage:',
    path === undefined ? `  url: ${url}` : `  path: ${JSON.stringify(path)}`,
    ...(url === 'env:DATABASE_URL' ? ['Set DATABASE_URL to that URL.'] : []),
  ]
}

export const ledgerInvalidError = ({ firstBad }: Verification, hint: string): CoworkError =>
  new CoworkError(
    'ledger_broken',
    `Ledger verification failed at entry ${firstBad?.seq}: ${firstBad?.why}.`,
    { hint },
  )

export const configPath = ({ configFile, paths }: Context): string =>
  configFile === undefined ? paths.config : resolve(configFile)

export const fileTimestamp = (): string => formatRfc3339(systemClock()).replaceAll(':', '-')
