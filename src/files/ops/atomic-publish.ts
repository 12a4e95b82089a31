/** A new content comes to its place whole or not at all. */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { getErrno } from '../confine/file-error.ts'
import { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR, O_WRONLY } from '../confine/flags.ts'
import { placeholderMode, cleanUpAfterCrash } from '../confine/crash-cleanup.ts'
import type { Parent } from '../confine/types.ts'
import { createTempName } from '../confine/temp-name.ts'
import { unless } from './io.ts'
import { existsError } from './current-file.ts'

export type TempFile = {
  readonly fd: number
  readonly path: string
  /** It has another name by now, and none to be removed: to try costs as much as three other calls. */
  isPlaced: boolean
}

const unplaced = new Set<() => void>()

/** Takes all of it away. Whoever writes to it fails then: only for a worker that goes right after. */
export function removeTempFiles(): void {
  for (const drop of unplaced)
    try {
      drop()
    } catch {
      // Gone, or not to be removed: the others go.
    }
}

/** Until `use` ends, `drop` takes away what it makes: at once, and nothing where that has its name. */
export async function withCleanup<T>(drop: () => void, use: () => Promise<T>): Promise<T> {
  unplaced.add(drop)
  try {
    return await use()
  } finally {
    unplaced.delete(drop)
  }
}

/** A file beside the one that is to be; when `use` ends, in whichever way, nothing is left under its name. */
export async function withTempFile<T>(
  parent: Pick<Parent, 'entryPath'>,
  mode: number,
  use: (temporary: TempFile) => Promise<T>,
): Promise<T> {
  const path = parent.entryPath(createTempName())
  const fd = fs.openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
  const temporary = { fd, path, isPlaced: false }
  const drop = () => {
    if (!temporary.isPlaced) unlinkIfExists(path)
  }
  try {
    return await withCleanup(drop, () => use(temporary))
  } finally {
    fs.closeSync(fd)
    drop()
  }
}

export const unlinkIfExists = (path: string): void => unless(['ENOENT'], () => fs.unlinkSync(path))

/** Disks without hard links, and files that the system lets nobody link. */
const noLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** Gives a file a second name, if that can be had. A name that is taken is EEXIST. */
export function tryLink(from: string, to: string): boolean {
  const isDone = unless(noLinks, () => {
    fs.linkSync(from, to)
    return true
  })
  return isDone === true
}

/** Whether nothing stands there. What a crash left to hold the name does not count, and goes. */
export function isFree(path: string): boolean {
  const look = () => fs.lstatSync(path, { throwIfNoEntry: false })
  const stat = look()
  if (!stat) return true
  if (stat.nlink === 1 && !stat.isDirectory()) return false
  cleanUpAfterCrash(path)
  return look() === undefined
}

function isTaken(from: string, to: string): boolean {
  try {
    return tryLink(from, to)
  } catch (error) {
    if (getErrno(error) === 'EEXIST' && isFree(to)) return tryLink(from, to)
    throw error
  }
}

/** Puts a finished file under its name if that is free; EEXIST where it is not. */
export function publishNew(made: TempFile, to: string): void {
  if (isTaken(made.path, to)) unlinkIfExists(made.path)
  else renameNoReplace(made.path, to)
  made.isPlaced = true
}

export function publishOver(made: TempFile, to: string): void {
  fs.renameSync(made.path, to)
  made.isPlaced = true
}

/**
 * Moves whatever stands under a name, at that very moment, to one that is free: an empty file takes it, and is
 * ours to rename over. With a link and an unlink, what an editor saved in between would be lost. The empty file
 * has an unfinished name as well, by which `putRight` knows it after a crash.
 */
export function renameNoReplace(from: string, to: string): void {
  const aside = join(dirname(to), createTempName())
  makeEmpty(aside)
  try {
    // A disk without links: there a crash leaves an empty file, which is better than to overwrite one.
    if (!isTaken(aside, to)) makeEmpty(to)
    try {
      fs.renameSync(from, to)
    } catch (error) {
      unlinkIfExists(to)
      throw error
    }
  } finally {
    unlinkIfExists(aside)
  }
}

function makeEmpty(path: string): void {
  fs.closeSync(fs.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, placeholderMode))
}

/**
 * Moves a folder to a name that is free: an empty folder takes it, and is ours to rename over. Without it one that
 * somebody made since we looked would be replaced. By its mode it is known after a crash.
 */
export function renameFolderNoReplace(from: string, to: string): void {
  if (!isFree(to)) throw existsError()
  // There a folder never takes the place of another.
  const isHeld = process.platform !== 'win32'
  if (isHeld) fs.mkdirSync(to, placeholderMode)
  try {
    fs.renameSync(from, to)
  } catch (error) {
    if (isHeld) removeIfEmpty(to)
    throw error
  }
}

function removeIfEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder)
  } catch {
    // Somebody has put something there: then it is theirs.
  }
}
