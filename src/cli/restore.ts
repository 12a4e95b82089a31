import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { writeFileAtomic } from '#base/atomic-file.ts'
import type { Config } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import { ensureState, takeLock } from '#base/state.ts'
import {
  databaseSource,
  exportNames,
  parseCheckpoints,
  parseHeadMac,
  readCheckpointCopies,
  verifyLedger,
} from '#ledger'
import { replaysOf } from '../app.ts'
import { destinationsOf, openArchive } from './archive.ts'
import type { Archive } from './archive.ts'
import type { Context } from './context.ts'
import { loadSettings } from './settings.ts'
import { outsideOf } from './outside.ts'
import { brokenLedger, configPath, stamp } from './storage.ts'
import { copyStore, placeOf, readStore, shownPlace } from './stores.ts'

export type RestoreOptions = { readonly force?: boolean }

/** Puts a backup where its own configuration says (K8). What is there is moved aside, never deleted. */
export async function restore(context: Context, given: string, { force = false }: RestoreOptions) {
  const { out, paths } = context
  const archive = await openArchive(resolve(given))
  await using backup = archive.store
  const progress = out.progress()
  let unlock = () => {}
  try {
    ensureState(paths)
    unlock = takeLock(paths)
    const config = await configOf(context, archive)
    const place = placeOf(config.storage)
    const state = { paths, config, configFile: configPath(context) }
    const files = [...archive.files].flatMap(([name, text]) =>
      destinationsOf(name, state).map((path) => ({ path, text })),
    )
    // A backup of the first second has no checkpoint yet, and copies of later ones would refuse what it restores.
    const copies = destinationsOf(exportNames.checkpoints, state)
    const aside = inTheWay(
      paths.dir,
      [...new Set([...files.map(({ path }) => path), ...copies])],
      'path' in place ? place.path : undefined,
    )
    if (aside.length > 0 && !force)
      throw new CoworkError('state_in_the_way', `There is a state already: ${aside[0]?.path}.`, {
        hint: 'With --force it is moved aside. Or name another folder with --state.',
      })
    const { verification, publish, abandon } = await copyStore(backup, place, {
      outside: parseCheckpoints(archive.files.get('checkpoints.jsonl') ?? ''),
      vkey: archive.files.get('ledger.pub')?.trim(),
      mac: parseHeadMac(archive.files.get('ledger.key') ?? ''),
      onCopied: (table, rows, of) => progress.show(`${table}: ${rows} of ${of} rows restored…`),
      onChecked: (entries) => progress.show(`${entries} entries checked…`),
    })
    if (verification.firstBad && !verification.acceptable) {
      await abandon()
      throw brokenLedger(verification, 'Nothing was restored. Use an earlier backup.')
    }
    const lost =
      newestKnown(readCheckpointCopies(config.ledger.checkpoint_copies)) - verification.entries
    await replace(aside, publish, files)
    const { entries, root } = await verifyInPlace(context, config)
    progress.end()
    const { madeAt: made_at } = archive
    const kept = aside.map(({ to }) => to)
    out.data({ store: shownPlace(place), made_at, entries, root, aside: kept }, () => [
      `The state of ${made_at} is back in ${paths.dir}; ${verification.acceptable ? 'its ledger is signed in part' : 'its ledger verifies'}: ${entries} entries.`,
      ...kept.map((path) => `Kept aside: ${path}`),
    ])
    if (verification.acceptable)
      out.note(
        `From entry ${verification.signed + 1} on nothing is signed, so the daemon refuses this store. Examine it, then run \`cowork ledger accept --reason "…"\`.`,
      )
    if (lost > 0) out.note(`Up to ${lost} newer entries that were signed here are not in it.`)
  } finally {
    progress.end()
    unlock()
  }
}

const newestKnown = (signed: readonly { size: number }[]) =>
  signed.reduce((newest, { size }) => Math.max(newest, size), 0)

type Move = { readonly path: string; readonly to: string }

/** From here on what was in use is replaced: by a whole store first, then by what belongs to it. */
async function replace(
  aside: readonly Move[],
  publish: () => Promise<void>,
  files: readonly { readonly path: string; readonly text: string }[],
) {
  for (const { path, to } of aside) {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
    renameSync(path, to)
  }
  await publish().catch((error: unknown) => {
    for (const { path, to } of aside) renameSync(to, path)
    throw error
  })
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileAtomic(path, text)
  }
}

/** What `cowork audit verify` will say. */
async function verifyInPlace(context: Context, config: Config) {
  await using restored = await readStore(placeOf(config.storage))
  const { outside, vkey: known, mac } = outsideOf(context, config)
  const { source, vkey = '' } = await databaseSource(restored, outside)
  const verification = await verifyLedger(source, known ?? vkey, {
    mac,
    replays: replaysOf(restored),
  })
  if (verification.firstBad && !verification.acceptable)
    throw brokenLedger(verification, 'Check the disk: what was restored had verified before.')
  return verification
}

/** The configuration that will be in force: the backup's own, read from where it will lie. */
async function configOf(context: Context, { files }: Archive) {
  const text = files.get('cowork.yaml')
  if (text === undefined) return (await loadSettings(context)).config
  const part = `${configPath(context)}.part`
  mkdirSync(dirname(part), { recursive: true })
  writeFileAtomic(part, text)
  try {
    return (await loadSettings({ ...context, configFile: part })).config
  } finally {
    rmSync(part, { force: true })
  }
}

/** Each file that is there, and where it goes: into one folder, or beside where it is when that is elsewhere. */
function inTheWay(state: string, files: readonly string[], store: string | undefined): Move[] {
  const mark = `before-restore-${stamp()}`
  const aside = (path: string) => {
    const inside = relative(state, path)
    return isAbsolute(inside) || inside.startsWith('..')
      ? `${path}.${mark}`
      : join(state, mark, inside)
  }
  // What lies beside a store of SQLite belongs to it, and goes by its name.
  const ends = store === undefined ? [] : ['', '-wal', '-shm']
  return [
    ...files.map((path) => ({ path, to: aside(path) })),
    ...ends.map((end) => ({ path: `${store}${end}`, to: `${aside(store ?? '')}${end}` })),
  ].filter(({ path }) => existsSync(path))
}
