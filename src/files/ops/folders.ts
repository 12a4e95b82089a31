/** Entries of open folders. Large folders are streamed: a million names take no more memory than one page. */
import fs from 'node:fs'
import type { Dir, Dirent } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { toFileError, FileError } from '../confine/file-error.ts'
import { hasReplacementCharacter } from '../confine/names.ts'
import type { ConfinedRoot } from '../confine/types.ts'
import type { Stat } from '../worker/protocol.ts'
import { closing } from './io.ts'

/** A larger folder is streamed; smaller ones are read in one call, which is faster. */
const maxUnstreamedBytes = 1024 * 1024
const entriesPerRead = 1024

export type Entry = Pick<Dirent, 'name' | 'isFile' | 'isDirectory' | 'isSymbolicLink'> & {
  /** The bytes of a name with invalid UTF-8 or replacement characters, for lookup and comparison. */
  readonly bytes?: Buffer
}

/** Reads all entries of a folder, unordered. Throws a `FileError` if it cannot be read. */
export function readEntries(confined: ConfinedRoot, fd: number): Iterable<Entry> {
  const path = confined.entryPath(fd)
  try {
    if (fs.fstatSync(fd).size > maxUnstreamedBytes)
      return streamEntries(fs.opendirSync(path, { bufferSize: entriesPerRead }), path)
    const entries = fs.readdirSync(path, { withFileTypes: true })
    return entries.some(hasInvalidName)
      ? [...entries.filter((one) => !hasInvalidName(one)), ...readInvalidNames(path)]
      : entries
  } catch (error) {
    throw toFileError(error)
  }
}

/** Reads a folder during a tree walk; returns nothing if it is gone or not readable. */
export function readEntriesOrEmpty(confined: ConfinedRoot, fd: number): Iterable<Entry> {
  try {
    return readEntries(confined, fd)
  } catch (error) {
    if (error instanceof FileError) return []
    throw error
  }
}

export function filterNames(
  confined: ConfinedRoot,
  path: string,
  isMatch: (name: string, folder: ReturnType<ConfinedRoot['openFolder']>) => boolean,
): string[] {
  const folder = confined.openFolder(path)
  using _ = closing(folder.fd)
  return [...readEntries(confined, folder.fd)]
    .map(({ name }) => name)
    .filter((name) => isMatch(name, folder))
}

function* streamEntries(folder: Dir, path: string): Generator<Entry> {
  let hasInvalidNames = false
  try {
    for (let entry = folder.readSync(); entry; entry = folder.readSync())
      if (hasInvalidName(entry)) hasInvalidNames = true
      else yield entry
  } finally {
    folder.closeSync()
  }
  if (hasInvalidNames) yield* readInvalidNames(path)
}

const hasInvalidName = ({ name }: Entry) => hasReplacementCharacter(name)

/** Reads the folder a second time for the bytes of such names. */
const readInvalidNames = (path: string): Entry[] =>
  fs.readdirSync(path, { withFileTypes: true, encoding: 'buffer' }).flatMap((entry) => {
    const name = entry.name.toString('utf8')
    if (!hasReplacementCharacter(name)) return []
    return {
      name,
      bytes: entry.name,
      isFile: () => entry.isFile(),
      isDirectory: () => entry.isDirectory(),
      isSymbolicLink: () => entry.isSymbolicLink(),
    }
  })

export const toEntryPath = (
  confined: ConfinedRoot,
  fd: number,
  { name, bytes }: { readonly name: string; readonly bytes?: Buffer | undefined },
): string | Buffer =>
  bytes
    ? Buffer.concat([Buffer.from(`${confined.entryPath(fd)}/`), bytes])
    : confined.entryPath(fd, name)

export const entryType = (
  entry: Pick<Dirent, 'isFile' | 'isDirectory' | 'isSymbolicLink'>,
): Stat['type'] =>
  entry.isFile()
    ? 'file'
    : entry.isDirectory()
      ? 'folder'
      : entry.isSymbolicLink()
        ? 'link'
        : 'other'

export type EntryStat = Pick<Stat, 'type' | 'size' | 'modifiedAt'>

export function statEntry(path: string | Buffer): EntryStat | undefined {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return undefined
  const size = stat.isFile() ? stat.size : 0
  return { type: entryType(stat), size, modifiedAt: Math.floor(stat.mtimeMs) }
}

function getWorkingDirectory(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

/** chdir to a descriptor requires Linux, and only the main thread may call chdir. */
const canChangeDirectory = process.platform === 'linux' && isMainThread

/**
 * Runs `use` with an open folder as working directory, so that a bare name is looked up in it, like openat(2).
 * Measured: a stat takes 2.4 µs this way and 5.0 µs through /proc. `use` must be synchronous.
 */
export function withWorkingDirectory<T>(
  confined: ConfinedRoot,
  fd: number,
  use: (pathTo: (name: string) => string) => T,
): T {
  if (!canChangeDirectory) return use((name) => confined.entryPath(fd, name))
  const before = getWorkingDirectory()
  process.chdir(confined.entryPath(fd))
  try {
    return use((name) => name)
  } finally {
    process.chdir(before)
  }
}

export const joinPath = (folder: string, name: string): string =>
  folder === '' ? name : `${folder}/${name}`

/** Opens a child folder during a tree walk; returns undefined if it cannot be opened. */
export function openChildFolder(
  confined: ConfinedRoot,
  fd: number,
  name: string,
  real: string,
  bytes?: Buffer,
): number | undefined {
  try {
    return confined.openChild(fd, name, real, bytes)
  } catch (error) {
    if (error instanceof FileError) return undefined
    throw error
  }
}
