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

/** What `storage` says in the configuration; nothing stands for the default. */
export type StorageSetting = { readonly url?: string; readonly path?: string }

/** `sqlite:<path>`, a postgres:// address or a reference to one: where it is, and how the configuration names it. */
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
      '--to is neither sqlite:<path> nor a postgres:// address.',
      'A reference to an address, such as env:DATABASE_URL, does as well.',
    )
  return { place: { url }, setting: { url: to } }
}

/** As it may be shown: a password belongs neither on a screen nor, in the open, into a file. */
function redactSetting({ url, path }: StorageSetting): StorageSetting {
  if (path !== undefined) return { path }
  if (url === undefined) return {}
  return { url: isReference(url) || new URL(url).password === '' ? url : 'env:DATABASE_URL' }
}

/** Changes only `storage`, keeps comments, and the file as it was beside it. */
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

/** The whole control plane from one engine to the other, while no daemon runs (SV7). The source stays as it is. */
export async function migrateStorage(context: Context, { to, write = false }: MigrateOptions) {
  const { paths, out } = context
  const { config } = await loadSettings(context)
  const from = toStoreLocation(config.storage)
  const { place, setting } = await parseTarget(context, to)
  if (formatStoreLocation(from) === formatStoreLocation(place))
    throw usageError('The store is there already.', 'Name another place with --to.')
  if ('path' in place && existsSync(place.path))
    throw usageError(`${place.path} exists already.`, 'Name a file that does not exist yet.')
  await using source = await readStore(from)
  ensureStateDir(paths)
  using lock = new DisposableStack()
  lock.defer(acquireLock(paths))
  if ('url' in from && (await isInUse(source)))
    throw new CoworkError('daemon_running', 'A daemon of another folder uses this database.', {
      hint: 'End every daemon that shares it first, or what it writes meanwhile is lost.',
    })
  const { tables, verification, publish, abandon } = await copyStore(source, place, {
    ...externalLedgerFiles(context, config),
    onCopied: (table, rows, of) => out.progress(`${table}: ${rows} of ${of} rows copied…`),
    onChecked: (entries) => out.progress(`${entries} entries checked…`),
  })
  if (verification.firstBad) {
    await abandon()
    throw ledgerInvalidError(verification, 'Nothing was moved. `cowork audit verify` tells more.')
  }
  await publish()
  const written = write ? writeSetting(configPath(context), setting, fileTimestamp()) : undefined
  const rows = tables.reduce((sum, each) => sum + each.rows, 0)
  const { entries, root } = verification
  const ends = { from: formatStoreLocation(from), to: formatStoreLocation(place) }
  const storage = redactSetting(setting)
  out.data({ ...ends, rows, tables, entries, root, storage, ...written }, () => [
    `${rows} rows are in ${ends.to}; the ledger there verifies: ${entries} entries, root ${root}.`,
    ...(written ? [`${written.config} names it now.`] : toWrite(storage)),
    `The old store is as it was: ${ends.from}.`,
  ])
}

function toWrite({ url, path }: StorageSetting): string[] {
  if (url === undefined && path === undefined)
    return ['To use it, take storage.url out of the configuration: the file is the default.']
  return [
    'To use it, put this into the configuration in place of what storage says there:',
    'storage:',
    path === undefined ? `  url: ${url}` : `  path: ${JSON.stringify(path)}`,
    ...(url === 'env:DATABASE_URL' ? ['with DATABASE_URL set to that address.'] : []),
  ]
}

export const ledgerInvalidError = ({ firstBad }: Verification, hint: string): CoworkError =>
  new CoworkError(
    'ledger_broken',
    `The ledger does not verify: entry ${firstBad?.seq}: ${firstBad?.why}.`,
    { hint },
  )

export const configPath = ({ configFile, paths }: Context): string =>
  configFile === undefined ? paths.config : resolve(configFile)

export const fileTimestamp = (): string => formatRfc3339(systemClock()).replaceAll(':', '-')
