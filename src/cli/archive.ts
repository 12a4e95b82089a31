import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '#base/config/index.ts'
import { tableNames } from '#base/db/copy.ts'
import type { Filling, Snapshot } from '#base/db/port.ts'
import { readSqlite } from '#base/db/sqlite.ts'
import { CoworkError } from '#base/errors.ts'
import type { StatePaths } from '#base/state.ts'
import { exportNames, readCheckpointCopies } from '#ledger'
import { checkFile } from './stores.ts'

/**
 * A backup is a SQLite file: a store, and beside its tables one with the files that belong to it (K8). So it can
 * be read anywhere, by `sqlite3` too, and is checked like a store.
 */
const table = 'backup_file'
const infoName = 'backup.json'
const format = 1

/** Name and text of what is kept besides the store. */
export type Files = ReadonlyMap<string, string>

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
export function destinationsOf(name: string, state: State): string[] {
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

export function collectFiles(state: State): Files {
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

export async function addFiles(filling: Filling, files: Files, version: string, madeAt: string) {
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
  readonly files: Files
  readonly version: string
  readonly madeAt: string
}

/** Refuses what is damaged, and what is no backup. */
export async function openArchive(path: string): Promise<Archive> {
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
