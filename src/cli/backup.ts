import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { formatRfc3339, systemClock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import { tableNames } from '#base/db/copy.ts'
import type { StoreImport, Snapshot } from '#base/db/port.ts'
import { readSqlite } from '#base/db/sqlite.ts'
import { CoworkError } from '#base/errors.ts'
import { ensureStateDir, acquireLock } from '#base/state.ts'
import type { StatePaths } from '#base/state.ts'
import {
  databaseSource,
  exportNames,
  parseCheckpoints,
  parseHeadMac,
  readCheckpointCopies,
  verifyLedger,
} from '#ledger'
import { replaysOf } from '../app.ts'
import { externalLedgerFiles } from './audit-verify.ts'
import type { Context } from './context.ts'
import { exitCode, usageError } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { loadSettings } from './settings.ts'
import { ledgerInvalidError, configPath, fileTimestamp } from './storage.ts'
import { checkFile, copyStore, toStoreLocation, readStore, formatStoreLocation } from './stores.ts'
import { version } from './launcher.ts'

/**
 * A backup is a SQLite file: a store, and beside its tables one with the files that belong to it (K8). So it can
 * be read anywhere, by `sqlite3` too, and is checked like a store.
 */
const table = 'backup_file'
const infoName = 'backup.json'
const format = 1

export type ArchiveFiles = ReadonlyMap<string, string>

type State = { readonly paths: StatePaths; readonly config: Config; readonly configFile: string }

const placesIn = ({ paths, config, configFile }: State) =>
  new Map([
    ['cowork.yaml', configFile],
    ['ledger.key', config.ledger.key_path],
    ['ledger.pub', paths.ledgerPublicKey],
    ['owner.token', paths.ownerToken],
    // By this name the store knows whose disk its grants are about.
    ['node', paths.node],
    ['connections.json', join(paths.dir, 'connections.json')],
  ])
const agentToken = /^agents\/([^/\\]+\.token)$/

/** Where a file of a backup belongs: never anywhere else, whatever the backup names it. */
function destinationsOf(name: string, state: State): string[] {
  // Every folder, or a copy that is newer than the backup would refuse the start.
  if (name === exportNames.checkpoints)
    return state.config.ledger.checkpoint_copies.map((folder) => join(folder, name))
  const token = agentToken.exec(name)?.[1]
  const path = token ? join(state.paths.dir, 'agents', token) : placesIn(state).get(name)
  if (path === undefined)
    throw new CoworkError('not_a_backup', `The backup holds a file that has no place: ${name}.`, {
      hint: 'It was changed, or written by another cowork. Nothing was restored.',
    })
  return [path]
}

function collectFiles(state: State): ArchiveFiles {
  const agents = join(state.paths.dir, 'agents')
  const tokens = existsSync(agents) ? readdirSync(agents).map((name) => `agents/${name}`) : []
  const copies = readCheckpointCopies(state.config.ledger.checkpoint_copies)
  const read = (names: readonly string[]) =>
    names.flatMap((name) =>
      destinationsOf(name, state)
        .filter((path) => existsSync(path))
        .map((path) => [name, readFileSync(path, 'utf8')] as const),
    )
  return new Map([
    ...read([...placesIn(state).keys()]),
    ...(copies.length > 0 ? [[exportNames.checkpoints, mergedLines(copies)] as const] : []),
    ...read(tokens.filter((name) => agentToken.test(name))),
  ])
}

/** Each copy once, the newest last: the start reads the newest from the end of the file. */
const mergedLines = (copies: readonly { readonly size: number; readonly note: string }[]): string =>
  [...new Map(copies.map((copy) => [copy.note, copy])).values()]
    .toSorted((a, b) => a.size - b.size)
    .map((copy) => `${JSON.stringify(copy)}\n`)
    .join('')

async function addFiles(
  filling: StoreImport,
  files: ArchiveFiles,
  version: string,
  madeAt: string,
) {
  await filling.run({
    sql: `CREATE TABLE ${table} (name TEXT PRIMARY KEY, content TEXT NOT NULL)`,
    parameters: [],
  })
  const info = JSON.stringify({ format, version, made_at: madeAt })
  const rows = [...files, [infoName, info] as const]
  await filling.insert(
    table,
    rows.map(([name, content]) => ({ name, content })),
  )
}

export type Archive = {
  readonly store: Snapshot
  readonly files: ArchiveFiles
  readonly version: string
  readonly madeAt: string
}

/** Refuses what is damaged, and what is no backup. */
async function openArchive(path: string): Promise<Archive> {
  if (!existsSync(path))
    throw new CoworkError('not_found', `There is no file ${path}.`, {
      hint: 'Name a file that `cowork backup` wrote.',
    })
  checkFile(path)
  const store = readSqlite(path)
  try {
    if (!(await tableNames(store)).includes(table))
      throw new CoworkError('not_a_backup', `${path} is not a backup of cowork.`, {
        hint: 'Name a file that `cowork backup` wrote.',
      })
    const rows = await store.all<{ name: string; content: string }>({
      sql: `SELECT name, content FROM ${table}`,
      parameters: [],
    })
    const files = new Map(rows.map(({ name, content }) => [name, content]))
    const info = JSON.parse(files.get(infoName) ?? '{}') as Record<string, unknown>
    files.delete(infoName)
    if (info['format'] !== format)
      throw new CoworkError('backup_is_newer', `${path} was written by a newer cowork.`, {
        hint: `Restore it with cowork ${String(info['version'])}.`,
      })
    return { store, files, version: String(info['version']), madeAt: String(info['made_at']) }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Everything that a new machine needs, in one file, while the daemon goes on (K8). */
export async function backup(context: Context, given: string | undefined): Promise<ExitCode> {
  const { out, paths } = context
  const file = resolve(given ?? `cowork-${fileTimestamp()}.backup`)
  if (existsSync(file))
    throw usageError(`${file} exists already.`, 'Name a file that does not exist.')
  const { config } = await loadSettings(context)
  // Before the store: a checkpoint that is copied later may be ahead of what we see of the store.
  const known = externalLedgerFiles(context, config)
  const files = collectFiles({ paths, config, configFile: configPath(context) })
  await using source = await readStore(toStoreLocation(config.storage))
  const { tables, verification, publish } = await copyStore(
    source,
    { path: file },
    {
      ...known,
      also: (filling) => addFiles(filling, files, version(), formatRfc3339(systemClock())),
      onCopied: (table, rows, of) => out.progress(`${table}: ${rows} of ${of} rows copied…`),
      onChecked: (entries) => out.progress(`${entries} entries checked…`),
    },
  )
  // A broken ledger is kept as well: it is evidence.
  await publish()
  const { entries, root, firstBad } = verification
  const rows = tables.reduce((sum, each) => sum + each.rows, 0)
  const about = { file, rows, entries, root, files: [...files.keys()] }
  out.data({ ...about, ...(firstBad && { first_bad: firstBad }) }, () => [
    firstBad
      ? `${out.style('red', 'BROKEN')}: the ledger does not verify at entry ${firstBad.seq}: ${firstBad.why}. It was kept as it is in ${file}.`
      : `${file} has ${rows} rows and ${files.size} files; its ledger verifies: ${entries} entries.`,
  ])
  out.note(
    files.has('ledger.key')
      ? 'It holds the signing key and the tokens: keep it where nobody else reads it.'
      : `There was no ${config.ledger.key_path}: without it the daemon does not start on this store.`,
  )
  return firstBad ? exitCode.failed : exitCode.ok
}

export type RestoreOptions = { readonly force?: boolean }

/** Puts a backup where its own configuration says (K8). What is there is moved aside, never deleted. */
export async function restore(context: Context, given: string, { force = false }: RestoreOptions) {
  const { out, paths } = context
  const archive = await openArchive(resolve(given))
  await using backup = archive.store
  ensureStateDir(paths)
  using lock = new DisposableStack()
  lock.defer(acquireLock(paths))
  const config = await configOf(context, archive)
  const place = toStoreLocation(config.storage)
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
    onCopied: (table, rows, of) => out.progress(`${table}: ${rows} of ${of} rows restored…`),
    onChecked: (entries) => out.progress(`${entries} entries checked…`),
  })
  if (verification.firstBad && !verification.acceptable) {
    await abandon()
    throw ledgerInvalidError(verification, 'Nothing was restored. Use an earlier backup.')
  }
  const known = readCheckpointCopies(config.ledger.checkpoint_copies)
  const newest = known.reduce((most, { size }) => Math.max(most, size), 0)
  const lost = newest - verification.entries
  await replace(aside, publish, files)
  const { entries, root } = await verifyInPlace(context, config)
  const { madeAt: made_at } = archive
  const kept = aside.map(({ to }) => to)
  out.data({ store: formatStoreLocation(place), made_at, entries, root, aside: kept }, () => [
    `The state of ${made_at} is back in ${paths.dir}; ${verification.acceptable ? 'its ledger is signed in part' : 'its ledger verifies'}: ${entries} entries.`,
    ...kept.map((path) => `Kept aside: ${path}`),
  ])
  if (verification.acceptable)
    out.note(
      `From entry ${verification.signed + 1} on nothing is signed, so the daemon refuses this store. Examine it, then run \`cowork ledger accept --reason "…"\`.`,
    )
  if (lost > 0) out.note(`Up to ${lost} newer entries that were signed here are not in it.`)
}

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
  await using restored = await readStore(toStoreLocation(config.storage))
  const { outside, vkey: known, mac } = externalLedgerFiles(context, config)
  const { source, vkey = '' } = await databaseSource(restored, outside)
  const verification = await verifyLedger(source, known ?? vkey, {
    mac,
    replays: replaysOf(restored),
  })
  if (verification.firstBad && !verification.acceptable)
    throw ledgerInvalidError(verification, 'Check the disk: what was restored had verified before.')
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
  const mark = `before-restore-${fileTimestamp()}`
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
