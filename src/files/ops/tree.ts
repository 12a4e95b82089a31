import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import type { ConfinedRoot, Parent } from '../confine/types.ts'
import { cleanUpAfterCrash } from '../confine/crash-cleanup.ts'
import { isTempName } from '../confine/temp-name.ts'
import { closing } from './io.ts'
import {
  joinPath,
  readEntriesOrEmpty,
  readEntries,
  openChildFolder,
  toEntryPath,
} from './folders.ts'
import type { Entry } from './folders.ts'
import { lstatEntry } from './regular-file.ts'

/** `real` is relative to the root. */
type OpenFolder = { readonly fd: number; readonly real: string }

export type Folder = OpenFolder & {
  /** Names of its regular files that are not hidden. A large folder is split into several parts. */
  readonly files: readonly string[]
  /** The bytes of the names with invalid UTF-8. */
  readonly invalidNames: readonly Buffer[]
}

export type ShouldEnter = (name: string, real: string) => boolean

const filesPerChunk = 4096
/** Each level keeps a folder open. A legitimate tree is not deeper. */
const maxDepth = 500

/** Yields every folder with its files, unordered. A folder is closed when the next one is requested. */
export function* walkFolders(
  confined: ConfinedRoot,
  path: string,
  shouldEnter: ShouldEnter = () => true,
): Generator<Folder> {
  const top = confined.openFolder(path)
  yield* walk(top.fd, top.real, 0)

  function* walk(fd: number, real: string, depth: number): Generator<Folder> {
    using _ = closing(fd)
    const isHidden = confined.createNameFilter(real)
    const folders: string[] = []
    let files: string[] = []
    let invalidNames: Buffer[] = []
    for (const entry of depth === 0
      ? readEntries(confined, fd)
      : readEntriesOrEmpty(confined, fd)) {
      const { name } = entry
      if (isHidden(name) || skipTempFile(confined, { fd, real }, name)) continue
      if (entry.isDirectory()) folders.push(name)
      if (!entry.isFile()) continue
      if (entry.bytes) invalidNames.push(entry.bytes)
      if (files.push(name) < filesPerChunk) continue
      yield { fd, real, files, invalidNames }
      files = []
      invalidNames = []
    }
    yield { fd, real, files, invalidNames }
    if (depth === maxDepth) return
    for (const name of folders) {
      const child = joinPath(real, name)
      if (!shouldEnter(name, child)) continue
      const childFd = openChildFolder(confined, fd, name, child)
      if (childFd !== undefined) yield* walk(childFd, child, depth + 1)
    }
  }
}

export type OpenEntry = { readonly confined: ConfinedRoot; readonly parent: Parent }

export async function forEachEntry(
  yieldNow: () => Promise<void>,
  { confined, parent }: OpenEntry,
  visit: (fd: number, entry: Entry, path: string) => void,
): Promise<void> {
  const visitFolder = async (
    fd: number,
    { name, bytes }: Pick<Entry, 'name' | 'bytes'>,
    real: string,
  ): Promise<void> => {
    const folder = confined.openChild(fd, name, real, bytes)
    using _ = closing(folder)
    for (const entry of readEntries(confined, folder)) {
      const path = joinPath(real, entry.name)
      visit(folder, entry, path)
      if (entry.isDirectory()) await visitFolder(folder, entry, path)
    }
    await yieldNow()
  }
  await visitFolder(parent.fd, parent, parent.real)
}

/** Called before each removal with the path relative to the root; throws to keep the entry. */
export type BeforeRemove = (real: string, stat: BigIntStats) => void

type RemovalTarget = Pick<Parent, 'fd' | 'name' | 'real'> & {
  /** The bytes of the name, if it may be invalid UTF-8, as in old archives. */
  readonly bytes?: Buffer | undefined
}

/**
 * Removes an entry and everything in it, without following links. An entry that cannot be removed or must stay does not
 * stop the rest; the first failure is thrown at the end.
 */
export async function removeTree(
  confined: ConfinedRoot,
  top: RemovalTarget,
  /** Throws to stop the removal. */
  yieldNow: () => Promise<void>,
  check: BeforeRemove = () => {},
): Promise<void> {
  let firstFailure: { readonly error: unknown } | undefined

  function attempt<T>(operation: () => T): T | undefined {
    try {
      return operation()
    } catch (error) {
      firstFailure ??= { error }
      return undefined
    }
  }

  async function remove({ fd, name, real, bytes }: RemovalTarget): Promise<void> {
    const path = toEntryPath(confined, fd, { name, bytes })
    const stat = attempt(() => checkAndStat(path, real, check))
    if (!stat) return
    if (!stat.isDirectory()) return attempt(() => fs.unlinkSync(path))
    const folder = attempt(() => confined.openChild(fd, name, real, bytes))
    if (folder === undefined) return
    try {
      attempt(() => makeWritable(folder, path, stat))
      // All names are read first: readdir is not specified while entries are removed.
      const names = attempt(() =>
        fs.readdirSync(confined.entryPath(folder), { encoding: 'buffer' }),
      )
      for (const child of names ?? []) {
        const text = child.toString('utf8')
        await remove({ fd: folder, name: text, real: joinPath(real, text), bytes: child })
        await yieldNow()
      }
    } finally {
      fs.closeSync(folder)
    }
    attempt(() => fs.rmdirSync(path))
  }

  await remove(top)
  // If another process removed the rest, the removal succeeded.
  if (firstFailure && lstatEntry(toEntryPath(confined, top.fd, top))) throw firstFailure.error
}

function checkAndStat(
  path: string | Buffer,
  real: string,
  check: BeforeRemove,
): BigIntStats | undefined {
  const stat = lstatEntry(path)
  if (stat) check(real, stat)
  return stat
}

/** Restores owner access: package managers create read-only folders. */
function makeWritable(folder: number, path: string | Buffer, { mode }: BigIntStats): void {
  if (process.platform === 'win32' || (mode & 0o700n) === 0o700n) return
  fs.chmodSync(process.platform === 'linux' ? `/proc/self/fd/${folder}` : path, 0o700)
}

/** A call ends after half a minute, so an older temporary file is stale. */
const staleAfterMs = 60 * 60 * 1000
export const isStaleTemp = (mtimeMs: number): boolean => Date.now() - mtimeMs > staleAfterMs
/** The maximum number of entries removed from a stale folder at once, because a listing waits for it. */
const maxRemovals = 10_000

/** Returns true for a temporary name, and removes a stale one. */
export function skipTempFile(confined: ConfinedRoot, folder: OpenFolder, name: string): boolean {
  if (!isTempName(name)) return false
  if (confined.root.access === 'read-write') removeStale(confined, folder, name)
  return true
}

function removeStale(confined: ConfinedRoot, { fd, real }: OpenFolder, name: string): void {
  const path = confined.entryPath(fd, name)
  try {
    const stat = fs.lstatSync(path)
    if (stat.isFile() && stat.nlink > 1) cleanUpAfterCrash(path)
    else if (isStaleTemp(stat.mtimeMs))
      removeNow(confined, { fd, real }, { name }, { left: maxRemovals })
  } catch {
    // Gone or not removable: it stays hidden.
  }
}

/** Removes synchronously. */
export function removeNow(
  confined: ConfinedRoot,
  { fd, real }: OpenFolder,
  entry: Pick<Entry, 'name' | 'bytes'>,
  budget = { left: Infinity },
): void {
  const { name, bytes } = entry
  const path = toEntryPath(confined, fd, entry)
  if (!fs.lstatSync(path).isDirectory()) {
    fs.unlinkSync(path)
    return
  }
  const child = joinPath(real, name)
  const inside = { fd: confined.openChild(fd, name, child, bytes), real: child }
  try {
    for (const child of readEntries(confined, inside.fd))
      if (budget.left-- > 0) removeNow(confined, inside, child, budget)
  } finally {
    fs.closeSync(inside.fd)
  }
  fs.rmdirSync(path)
}
