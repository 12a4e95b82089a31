import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { rfc3339, systemClock } from '#base/clock.ts'
import { isServed } from '#base/db/postgres.ts'
import { CoworkError } from '#base/errors.ts'
import { ensureState, takeLock } from '#base/state.ts'
import type { Verification } from '#ledger'
import type { Context } from './context.ts'
import { usage } from './exit.ts'
import { outsideOf } from './outside.ts'
import { loadSettings } from './settings.ts'
import { shownSetting, targetOf, writeSetting } from './storage-setting.ts'
import type { Setting } from './storage-setting.ts'
import { copyStore, placeOf, readStore, shownPlace } from './stores.ts'

export type MigrateOptions = { readonly to: string; readonly write?: boolean }

/** The whole control plane from one engine to the other, while no daemon runs (SV7). The source stays as it is. */
export async function migrateStorage(context: Context, { to, write = false }: MigrateOptions) {
  const { paths, out } = context
  const { config } = await loadSettings(context)
  const from = placeOf(config.storage)
  const { place, setting } = await targetOf(context, to)
  if (shownPlace(from) === shownPlace(place))
    throw usage('The store is there already.', 'Name another place with --to.')
  if ('path' in place && existsSync(place.path))
    throw usage(`${place.path} exists already.`, 'Name a file that does not exist yet.')
  await using source = await readStore(from)
  const progress = out.progress()
  let unlock = () => {}
  try {
    ensureState(paths)
    unlock = takeLock(paths)
    if ('url' in from && (await isServed(source)))
      throw new CoworkError('daemon_running', 'A daemon of another folder uses this database.', {
        hint: 'End every daemon that shares it first, or what it writes meanwhile is lost.',
      })
    const { tables, verification, publish, abandon } = await copyStore(source, place, {
      ...outsideOf(context, config),
      onCopied: (table, rows, of) => progress.show(`${table}: ${rows} of ${of} rows copied…`),
      onChecked: (entries) => progress.show(`${entries} entries checked…`),
    })
    if (verification.firstBad) {
      await abandon()
      throw brokenLedger(verification, 'Nothing was moved. `cowork audit verify` tells more.')
    }
    await publish()
    progress.end()
    const written = write ? writeSetting(configPath(context), setting, stamp()) : undefined
    const rows = tables.reduce((sum, each) => sum + each.rows, 0)
    const { entries, root } = verification
    const ends = { from: shownPlace(from), to: shownPlace(place) }
    const storage = shownSetting(setting)
    out.data({ ...ends, rows, tables, entries, root, storage, ...written }, () => [
      `${rows} rows are in ${ends.to}; the ledger there verifies: ${entries} entries, root ${root}.`,
      ...(written ? [`${written.config} names it now.`] : toWrite(storage)),
      `The old store is as it was: ${ends.from}.`,
    ])
  } finally {
    progress.end()
    unlock()
  }
}

function toWrite({ url, path }: Setting): string[] {
  if (url === undefined && path === undefined)
    return ['To use it, take storage.url out of the configuration: the file is the default.']
  return [
    'To use it, put this into the configuration in place of what storage says there:',
    'storage:',
    path === undefined ? `  url: ${url}` : `  path: ${JSON.stringify(path)}`,
    ...(url === 'env:DATABASE_URL' ? ['with DATABASE_URL set to that address.'] : []),
  ]
}

export const brokenLedger = ({ firstBad }: Verification, hint: string): CoworkError =>
  new CoworkError(
    'ledger_broken',
    `The ledger does not verify: entry ${firstBad?.seq}: ${firstBad?.why}.`,
    { hint },
  )

export const configPath = ({ configFile, paths }: Context): string =>
  configFile === undefined ? paths.config : resolve(configFile)

/** A moment in the name of a file. */
export const stamp = (): string => rfc3339(systemClock()).replaceAll(':', '-')
