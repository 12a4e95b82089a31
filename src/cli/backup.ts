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
import { createReplays } from '../app.ts'
import { externalLedgerFiles } from './audit-verify.ts'
import type { Context } from './context.ts'
import { exitCode, usageError } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { loadSettings } from './settings.ts'
import { ledgerInvalidError, configPath, fileTimestamp } from './storage.ts'
import { checkFile, copyStore, toStoreLocation, readStore, formatStoreLocation } from './stores.ts'
import { version } from './launcher.ts'

/**
 * A backup is a SQLite file: the tables of a store plus one table with the files that belong to it (K8). `sqlite3`
 * can read it, and it is verified like a store.
 */
const table = 'backup_file'
const infoName = 'backup.json'
const format = 1

export type ArchiveFiles = ReadonlyMap<string, string>

type State = { readonly paths: StatePaths; readonly config: Config; readonly configFile: string }

const archivePaths = ({ paths, config, configFile }: State) =>
  new Map([
    ['cowork.yaml', configFile],
    ['ledger.key', config.ledger.key_path],
    ['ledger.pub', paths.ledgerPublicKey],
    ['owner.token', paths.ownerToken],
    // Identifies the machine whose paths the grants refer to.
    ['node', paths.node],
    ['connections.json', join(paths.dir, 'connections.json')],
  ])
const agentToken = /^agents\/([^/\\]+\.token)$/

/** Returns the paths of a file of a backup. An unknown name is refused, so that no backup can write elsewhere. */
function restorePaths(name: string, state: State): string[] {
  // Every folder: a copy newer than the backup makes the daemon refuse to start.
  if (name === exportNames.checkpoints)
    return state.config.ledger.checkpoint_copies.map((folder) => join(folder, name))
  const token = agentToken.exec(name)?.[1]
  const path = token ? join(state.paths.dir, 'agents', token) : archivePaths(state).get(name)
  if (path === undefined)
    throw new CoworkError('not_a_backup', `Unknown file in the backup: ${name}.`, {
      hint: 'Use an unmodified backup of this version. Nothing was restored.',
    })
  return [path]
}

function collectFiles(state: State): ArchiveFiles {
  const agents = join(state.paths.dir, 'agents')
  const tokens = existsSync(agents) ? readdirSync(agents).map((name) => `agents/${name}`) : []
  const copies = readCheckpointCopies(state.config.ledger.checkpoint_copies)
  const read = (names: readonly string[]) =>
    names.flatMap((name) =>
      restorePaths(name, state)
        .filter((path) => existsSync(path))
        .map((path) => [name, readFileSync(path, 'utf8')] as const),
    )
  return new Map([
    ...read([...archivePaths(state).keys()]),
    ...(copies.length > 0
      ? [[exportNames.checkpoints, mergeCheckpointLines(copies)] as const]
      : []),
    ...read(tokens.filter((name) => agentToken.test(name))),
  ])
}

/** Removes duplicates and puts the newest last: the daemon reads the newest from the end of the file. */
const mergeCheckpointLines = (
  copies: readonly { readonly size: number; readonly note: string }[],
): string =>
  [...new Map(copies.map((copy) => [copy.note, copy])).values()]
    .toSorted((a, b) => a.size - b.size)
    .map((copy) => `${JSON.stringify(copy)}\n`)
    .join('')

async function addFiles(
  storeImport: StoreImport,
  files: ArchiveFiles,
  version: string,
  madeAt: string,
) {
  await storeImport.run({
    sql: `CREATE TABLE ${table} (name TEXT PRIMARY KEY, content TEXT NOT NULL)`,
    parameters: [],
  })
  const info = JSON.stringify({ format, version, made_at: madeAt })
  const rows = [...files, [infoName, info] as const]
  await storeImport.insert(
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

/** Opens a backup; refuses a damaged file or one that is not a backup. */
async function openArchive(path: string): Promise<Archive> {
  if (!existsSync(path))
    throw new CoworkError('not_found', `Not found: ${path}.`, {
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

/** Copies all state that a new machine needs into one file while the daemon runs (K8). */
export async function backup(
  context: Context,
  fileArgument: string | undefined,
): Promise<ExitCode> {
  const { out, paths } = context
  const file = resolve(fileArgument ?? `cowork-${fileTimestamp()}.backup`)
  if (existsSync(file)) throw usageError(`File exists: ${file}.`, 'Name a new file.')
  const { config } = await loadSettings(context)
  // Before the store is read: a checkpoint copied later may be ahead of the store snapshot.
  const known = externalLedgerFiles(context, config)
  const files = collectFiles({ paths, config, configFile: configPath(context) })
  await using source = await readStore(toStoreLocation(config.storage))
  const { tables, verification, publish } = await copyStore(
    source,
    { path: file },
    {
      ...known,
      addExtraTables: (storeImport) =>
        addFiles(storeImport, files, version(), formatRfc3339(systemClock())),
      onCopied: (table, rows, of) => out.progress(`${table}: ${rows} of ${of} rows copied…`),
      onChecked: (entries) => out.progress(`${entries} entries checked…`),
    },
  )
  // Publish a broken ledger too: it is evidence.
  await publish()
  const { entries, root, firstBad } = verification
  const rows = tables.reduce((sum, each) => sum + each.rows, 0)
  const about = { file, rows, entries, root, files: [...files.keys()] }
  out.data({ ...about, ...(firstBad && { first_bad: firstBad }) }, () => [
    firstBad
      ? `${out.style('red', 'BROKEN')}: verification failed at entry ${firstBad.seq}: ${firstBad.why}. Saved the ledger unchanged in ${file}.`
      : `Saved ${rows} rows and ${files.size} files in ${file}. Ledger verified: ${entries} entries.`,
  ])
  out.note(
    files.has('ledger.key')
      ? 'The backup contains the signing key and tokens: keep it private.'
      : `Not found: ${config.ledger.key_path}. The daemon cannot start on this store without this key.`,
  )
  return firstBad ? exitCode.failed : exitCode.ok
}

export type RestoreOptions = { readonly force?: boolean }

/** Restores a backup to the paths of its own configuration (K8). Existing files are moved aside, never deleted. */
export async function restore(
  context: Context,
  fileArgument: string,
  { force = false }: RestoreOptions,
) {
  const { out, paths } = context
  const archive = await openArchive(resolve(fileArgument))
  await using backup = archive.store
  ensureStateDir(paths)
  using lock = new DisposableStack()
  lock.defer(acquireLock(paths))
  const config = await loadArchivedConfig(context, archive)
  const location = toStoreLocation(config.storage)
  const state = { paths, config, configFile: configPath(context) }
  const files = [...archive.files].flatMap(([name, text]) =>
    restorePaths(name, state).map((path) => ({ path, text })),
  )
  // A backup made before the first checkpoint has none, and existing copies would refuse the restored ledger.
  const copies = restorePaths(exportNames.checkpoints, state)
  const aside = planMovesAside(
    paths.dir,
    [...new Set([...files.map(({ path }) => path), ...copies])],
    'path' in location ? location.path : undefined,
  )
  if (aside.length > 0 && !force)
    throw new CoworkError('state_in_the_way', `State exists: ${aside[0]?.path}.`, {
      hint: 'Pass --force to move the existing state aside, or name another folder with --state.',
    })
  const { verification, publish, abandon } = await copyStore(backup, location, {
    outside: parseCheckpoints(archive.files.get('checkpoints.jsonl') ?? ''),
    vkey: archive.files.get('ledger.pub')?.trim(),
    mac: parseHeadMac(archive.files.get('ledger.key') ?? ''),
    onCopied: (table, rows, of) => out.progress(`${table}: ${rows} of ${of} rows restored…`),
    onChecked: (entries) => out.progress(`${entries} entries checked…`),
  })
  if (verification.firstBad && !verification.acceptable) {
    await abandon()
    throw ledgerInvalidError(verification, 'Use an earlier backup. Nothing was restored.')
  }
  const known = readCheckpointCopies(config.ledger.checkpoint_copies)
  const newest = known.reduce((most, { size }) => Math.max(most, size), 0)
  const lost = newest - verification.entries
  await replaceState(aside, publish, files)
  const { entries, root } = await verifyInPlace(context, config)
  const { madeAt: made_at } = archive
  const movedTo = aside.map(({ to }) => to)
  out.data({ store: formatStoreLocation(location), made_at, entries, root, aside: movedTo }, () => [
    `Restored the state of ${made_at} to ${paths.dir}. Ledger ${verification.acceptable ? 'signed in part' : 'verified'}: ${entries} entries.`,
    ...movedTo.map((path) => `Moved aside: ${path}`),
  ])
  if (verification.acceptable)
    out.note(
      `Entries from ${verification.signed + 1} are not signed, so the daemon refuses this store. Inspect them, then run \`cowork ledger accept --reason "…"\`.`,
    )
  if (lost > 0) out.note(`The backup lacks up to ${lost} newer entries that were signed here.`)
}

type MoveAside = { readonly path: string; readonly to: string }

/** Replaces the files in use: the complete store first, then the files that belong to it. */
async function replaceState(
  aside: readonly MoveAside[],
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

/** Verifies the restored ledger as `cowork audit verify` does. */
async function verifyInPlace(context: Context, config: Config) {
  await using restored = await readStore(toStoreLocation(config.storage))
  const { outside, vkey: known, mac } = externalLedgerFiles(context, config)
  const { source, vkey = '' } = await databaseSource(restored, outside)
  const verification = await verifyLedger(source, known ?? vkey, {
    mac,
    replays: createReplays(restored),
  })
  if (verification.firstBad && !verification.acceptable)
    throw ledgerInvalidError(verification, 'Check the disk: the backup was verified before.')
  return verification
}

/** Loads the configuration that will apply: the backup's own, resolved from its restored path. */
async function loadArchivedConfig(context: Context, { files }: Archive) {
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

/** Lists existing files and their new paths: inside one folder, or beside the file if it is outside the state. */
function planMovesAside(
  state: string,
  files: readonly string[],
  store: string | undefined,
): MoveAside[] {
  const mark = `before-restore-${fileTimestamp()}`
  const aside = (path: string) => {
    const inside = relative(state, path)
    return isAbsolute(inside) || inside.startsWith('..')
      ? `${path}.${mark}`
      : join(state, mark, inside)
  }
  // The WAL and shared-memory files belong to the SQLite store.
  const suffixes = store === undefined ? [] : ['', '-wal', '-shm']
  return [
    ...files.map((path) => ({ path, to: aside(path) })),
    ...suffixes.map((suffix) => ({
      path: `${store}${suffix}`,
      to: `${aside(store ?? '')}${suffix}`,
    })),
  ].filter(({ path }) => existsSync(path))
}
