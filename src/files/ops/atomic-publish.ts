/** Publishes new content atomically: a temporary file gets its final name, or nothing changes. */
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
  /** The file has its final name. Unlinking the temporary name anyway would cost as much as three other calls. */
  isPublished: boolean
}

const pendingCleanups = new Set<() => void>()

/** Deletes all temporary files. Open writers fail afterwards, so this is only for a worker that exits right after. */
export function removeTempFiles(): void {
  for (const cleanUp of pendingCleanups)
    try {
      cleanUp()
    } catch {
      // Gone or not removable: continue with the others.
    }
}

/** Registers `cleanUp` until `use` ends, for an immediate exit. It must do nothing once the content is published. */
export async function withCleanup<T>(cleanUp: () => void, use: () => Promise<T>): Promise<T> {
  pendingCleanups.add(cleanUp)
  try {
    return await use()
  } finally {
    pendingCleanups.delete(cleanUp)
  }
}

/** Creates a temporary file beside the final one and removes its temporary name when `use` ends. */
export async function withTempFile<T>(
  parent: Pick<Parent, 'entryPath'>,
  mode: number,
  use: (temporary: TempFile) => Promise<T>,
): Promise<T> {
  const path = parent.entryPath(createTempName())
  const fd = fs.openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
  const temporary = { fd, path, isPublished: false }
  const cleanUp = () => {
    if (!temporary.isPublished) unlinkIfExists(path)
  }
  try {
    return await withCleanup(cleanUp, () => use(temporary))
  } finally {
    fs.closeSync(fd)
    cleanUp()
  }
}

export const unlinkIfExists = (path: string): void => unless(['ENOENT'], () => fs.unlinkSync(path))

/** Errors of file systems without hard links, and of files that must not be linked. */
const noLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** Creates a hard link if the file system can. Throws EEXIST if the name is taken. */
export function tryLink(from: string, to: string): boolean {
  const isDone = unless(noLinks, () => {
    fs.linkSync(from, to)
    return true
  })
  return isDone === true
}

/** Returns true if the path does not exist. Removes a placeholder that a crash left. */
export function isFree(path: string): boolean {
  const lstat = () => fs.lstatSync(path, { throwIfNoEntry: false })
  const stat = lstat()
  if (!stat) return true
  if (stat.nlink === 1 && !stat.isDirectory()) return false
  cleanUpAfterCrash(path)
  return lstat() === undefined
}

function linkIfFree(from: string, to: string): boolean {
  try {
    return tryLink(from, to)
  } catch (error) {
    if (getErrno(error) === 'EEXIST' && isFree(to)) return tryLink(from, to)
    throw error
  }
}

/** Publishes a finished file under a free name; throws EEXIST otherwise. */
export function publishNew(temporary: TempFile, to: string): void {
  if (linkIfFree(temporary.path, to)) unlinkIfExists(temporary.path)
  else renameNoReplace(temporary.path, to)
  temporary.isPublished = true
}

export function publishOver(temporary: TempFile, to: string): void {
  fs.renameSync(temporary.path, to)
  temporary.isPublished = true
}

/**
 * Moves an entry to a free name: an empty placeholder reserves the name, and rename replaces the placeholder. With
 * link and unlink, a change that an editor saved in between would be lost. The placeholder also has a temporary
 * name, by which `cleanUpAfterCrash` recognizes it.
 */
export function renameNoReplace(from: string, to: string): void {
  const tempPath = join(dirname(to), createTempName())
  createPlaceholder(tempPath)
  try {
    // On a file system without links, a crash leaves an empty file, which is better than overwriting a file.
    if (!linkIfFree(tempPath, to)) createPlaceholder(to)
    try {
      fs.renameSync(from, to)
    } catch (error) {
      unlinkIfExists(to)
      throw error
    }
  } finally {
    unlinkIfExists(tempPath)
  }
}

function createPlaceholder(path: string): void {
  fs.closeSync(fs.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, placeholderMode))
}

/**
 * Moves a folder to a free name: an empty placeholder reserves the name, and rename replaces it. Without it, a folder
 * created after the check would be replaced. The cleanup after a crash recognizes the placeholder by its mode.
 */
export function renameFolderNoReplace(from: string, to: string): void {
  if (!isFree(to)) throw existsError()
  // On Windows, rename never replaces a folder.
  const hasPlaceholder = process.platform !== 'win32'
  if (hasPlaceholder) fs.mkdirSync(to, placeholderMode)
  try {
    fs.renameSync(from, to)
  } catch (error) {
    if (hasPlaceholder) removeIfEmpty(to)
    throw error
  }
}

function removeIfEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder)
  } catch {
    // The folder is not empty: another program put something in it, so it stays.
  }
}
