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

const mostBackups = 10_000

/**
 * Leaves what is there under the next free `.bak` name (FT4) while `place` puts something else in its place, and
 * says which. Until then it has an unfinished name as well: `putRight` knows by it that a crash came first.
 */
export function createBackup(parent: Parent, present: CurrentFile, place: () => void): string {
  const aside = parent.entryPath(createTempName())
  const isOnly = present.stat.nlink === 1n
  const isAside = isOnly && tryLink(parent.entryPath(parent.name), aside)
  try {
    const name = backUp(parent, present, isAside)
    try {
      place()
    } catch (error) {
      unlinkIfExists(parent.entryPath(name))
      throw error
    }
    return name
  } finally {
    if (isAside) unlinkIfExists(aside)
  }
}

function backUp(parent: Parent, present: CurrentFile, isLinking: boolean): string {
  for (const name of backupNames(parent)) {
    // By a name that was cut `putRight` would not know it again.
    const isKnown = name.startsWith(parent.name)
    if (isBackedUp(parent, name, present, isLinking && isKnown)) return name
  }
  throw new FileError('exists', 'There are too many backups beside the file.', parent.real)
}

export const nextBackupName = (parent: Parent): string | undefined =>
  backupNames(parent).find((name) => !lstatEntry(parent.entryPath(name)))

function* backupNames({ name }: Parent): Generator<string, undefined> {
  for (let number = 0; number < mostBackups; number++) yield backupName(name, number)
}

/** `<name>.bak`, then `<name>.bak.1`. */
export const backupName = (name: string, number: number): string =>
  fittingName(name, `.bak${number === 0 ? '' : `.${number}`}`)

/** Longer endings say nothing of what kind of file it is. */
const longestEnding = 50

/** A name that gets too long loses letters before its ending. */
function fittingName(name: string, suffix: string): string {
  const over = Buffer.byteLength(name + suffix) - maxNameBytes
  if (over <= 0) return name + suffix
  const ending = Buffer.byteLength(extname(name)) > longestEnding ? '' : extname(name)
  const start = Buffer.from(name.slice(0, name.length - ending.length))
  return trimPartialCharacter(start.subarray(0, -over)).toString() + ending + suffix
}

/** The old file itself under a second name, unless others have it too: then a copy. */
function isBackedUp(
  parent: Parent,
  name: string,
  present: CurrentFile,
  isLinking: boolean,
): boolean {
  const isDone = unless(['EEXIST'], () => {
    if (!isLinking || !tryLink(parent.entryPath(parent.name), parent.entryPath(name)))
      writeCopy(parent.entryPath(name), present)
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
