import fs from 'node:fs'
import { extname } from 'node:path/posix'
import { maxNameBytes } from '../confine/access-checks.ts'
import { FileError } from '../confine/file-error.ts'
import type { Parent } from '../confine/types.ts'
import { createTempName } from '../confine/temp-name.ts'
import { unless, writeAll } from './io.ts'
import { lstatEntry } from './regular-file.ts'
import { tryLink, unlinkIfExists } from './atomic-publish.ts'
import { permissionBits } from './current-file.ts'
import type { CurrentFile } from './current-file.ts'
import { trimPartialCharacter } from './encoding.ts'

const maxBackups = 10_000

/**
 * Keeps the current file under the next free `.bak` name (FT4) while `publish` replaces it, and returns the name.
 * Until then the file also has a temporary name, by which `cleanUpAfterCrash` detects an unfinished change.
 */
export function createBackup(parent: Parent, current: CurrentFile, publish: () => void): string {
  const tempLink = parent.entryPath(createTempName())
  const hasSingleLink = current.stat.nlink === 1n
  const isLinked = hasSingleLink && tryLink(parent.entryPath(parent.name), tempLink)
  try {
    const name = storeBackup(parent, current, isLinked)
    try {
      publish()
    } catch (error) {
      unlinkIfExists(parent.entryPath(name))
      throw error
    }
    return name
  } finally {
    if (isLinked) unlinkIfExists(tempLink)
  }
}

function storeBackup(parent: Parent, current: CurrentFile, canLink: boolean): string {
  for (const name of backupNames(parent)) {
    // The cleanup recognizes a backup only if its name starts with the full file name.
    const keepsFullName = name.startsWith(parent.name)
    if (tryBackup(parent, name, current, canLink && keepsFullName)) return name
  }
  throw new FileError('exists', 'Too many backups of the file.', parent.real)
}

export const nextBackupName = (parent: Parent): string | undefined =>
  backupNames(parent).find((name) => !lstatEntry(parent.entryPath(name)))

function* backupNames({ name }: Parent): Generator<string, undefined> {
  for (let number = 0; number < maxBackups; number++) yield backupName(name, number)
}

/** `<name>.bak`, then `<name>.bak.1`. */
export const backupName = (name: string, number: number): string =>
  truncateName(name, `.bak${number === 0 ? '' : `.${number}`}`)

/** A longer extension does not name a file type. */
const maxExtensionBytes = 50

/** Shortens the part before the extension if the name gets too long. */
function truncateName(name: string, suffix: string): string {
  const excess = Buffer.byteLength(name + suffix) - maxNameBytes
  if (excess <= 0) return name + suffix
  const extension = Buffer.byteLength(extname(name)) > maxExtensionBytes ? '' : extname(name)
  const start = Buffer.from(name.slice(0, name.length - extension.length))
  return trimPartialCharacter(start.subarray(0, -excess)).toString() + extension + suffix
}

/** Links the old file, or copies it if it has other hard links. Returns false if the name is taken. */
function tryBackup(parent: Parent, name: string, current: CurrentFile, canLink: boolean): boolean {
  const isDone = unless(['EEXIST'], () => {
    if (!canLink || !tryLink(parent.entryPath(parent.name), parent.entryPath(name)))
      writeCopy(parent.entryPath(name), current)
    return true
  })
  return isDone === true
}

function writeCopy(path: string, { bytes, stat }: CurrentFile): void {
  const fd = fs.openSync(path, 'wx', permissionBits(stat))
  try {
    writeAll(fd, bytes)
    fs.fsyncSync(fd)
  } catch (error) {
    unlinkIfExists(path)
    throw error
  } finally {
    fs.closeSync(fd)
  }
}
