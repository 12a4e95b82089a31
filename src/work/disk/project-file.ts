import {
  closeSync,
  linkSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { fsyncFolder } from '#base/atomic-file.ts'
import type { Clock } from '#base/clock.ts'
import { errorMessage } from '#base/errors.ts'
import { swapFiles } from '#base/swap-files.ts'
import { sha256Hex } from '#base/hash.ts'
import { randomHex } from '#base/ids.ts'
import {
  createFolderInside,
  hashFile,
  isMissing,
  listInside,
  openRegularFile,
  getOpenPath,
  writeFileInChunks,
  withRegularFile,
} from './confined-read.ts'

/** The saved content: as text, and as bytes in case the text is not valid UTF-8. */
export type FileContent = { readonly text: string; readonly bytes: Buffer }

export type FileState =
  | { readonly as: 'same' | 'missing' | 'unsettled' }
  | ({ readonly as: 'changed'; readonly hash: string } & FileContent)
  /** Not a regular file, or unreadable. */
  | { readonly as: 'unusable'; readonly message: string }

type ReplacedFile = {
  readonly path: string
  readonly until: number
  identity: string
  hash: string
}

/** A file counts as complete this long after the last write. */
const settleDelayMs = 80
/** The delay for a file that is empty or ends within a line, which is probably a partial save. */
const partialSaveDelayMs = 1000
/** How long an editor may keep a replaced file open. */
const replacedRetentionMs = 5000
/** Minimum interval between checks of replaced files. */
const lateCheckIntervalMs = 50

export type ProjectFile = ReturnType<typeof createProjectFile>

/**
 * Creates access to a file that people edit while cowork writes it. A write replaces the file
 * atomically (W3) and keeps the replaced file for a while in `.cowork`, because an editor may have
 * saved into it at the last moment or may still do so. A symbolic link stays and its target is
 * written, unless the target is a protected path or another link (PV4).
 */
export function createProjectFile(
  path: string,
  known: string | undefined,
  {
    backupFolder = join(dirname(path), '.cowork'),
    isProtected,
  }: { readonly backupFolder?: string; readonly isProtected: IsProtected },
) {
  let hash = known
  let identity: string | undefined
  /** Replaced files, newest last. */
  const replacedFiles: ReplacedFile[] = findReplacedFiles(path, backupFolder, isProtected)
  let lastLateCheckAt = -Infinity

  function inspect(now: number): FileState {
    let at: FileStats
    try {
      at = statFile(path)
    } catch (error) {
      if (!isMissing(error)) return unusable(error)
      return isLink(path) ? danglingLink : { as: 'missing' }
    }
    if (at.identity === identity) return { as: 'same' }
    if (!at.isFile) return { as: 'unusable', message: 'Not a regular file.' }
    let file: number | undefined
    try {
      file = open()
      // The text of an unchanged file is not needed.
      const isKnown = hashFile(file) === hash
      const bytes = isKnown ? Buffer.of() : readFileSync(file)
      const text = bytes.toString('utf8')
      const found = isKnown ? (hash ?? '') : sha256Hex(bytes)
      // Written during the read: the text may be partial.
      if (statFile(path).identity !== at.identity) return { as: 'unsettled' }
      if (found === hash) {
        identity = at.identity
        return { as: 'same' }
      }
      if (isRecentlyWritten(at, now, text)) return { as: 'unsettled' }
      return { as: 'changed', text, bytes, hash: found }
    } catch (error) {
      return isMissing(error) ? { as: 'missing' } : unusable(error)
    } finally {
      if (file !== undefined) closeSync(file)
    }
  }

  /**
   * Opens the file or the target of its link. The path of the target is checked after opening, so
   * that it cannot be swapped.
   */
  function open(): number {
    const target = isLink(path) ? resolve(dirname(path), readlinkSync(path)) : path
    const file = openRegularFile(target)
    try {
      if (target !== path) assertNotProtected(getOpenPath(file, target), isProtected)
      return file
    } catch (error) {
      closeSync(file)
      throw error
    }
  }

  /** Reads the bytes; undefined if the file is missing. */
  function read(): Buffer | undefined {
    let file: number | undefined
    try {
      file = open()
      return readFileSync(file)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    } finally {
      if (file !== undefined) closeSync(file)
    }
  }

  /** Accepts the found text as the known one. */
  function accept(found: string): void {
    hash = found
    identity = undefined
  }

  /**
   * Replaces the known text. Returns `changed` without data loss if the file changed before. Only
   * the swap itself is synchronous.
   */
  async function write(parts: Iterable<string>, now: Clock): Promise<'written' | 'changed'> {
    const target = resolveTarget(path, backupFolder, isProtected)
    createFolderInside(...splitBackupPath(target.backupFolder))
    const tempPath = join(target.backupFolder, `${basename(target.file)}.${randomHex(6)}.part`)
    let newHash: string
    try {
      newHash = await writeFileInChunks(tempPath, parts)
      const seen = inspect(now())
      if (seen.as === 'missing') linkSync(tempPath, path)
      else if (seen.as === 'same' && newHash !== hash) replace(tempPath, target, now())
      rmSync(tempPath, { force: true })
      if (seen.as !== 'missing' && seen.as !== 'same') return 'changed'
    } catch (error) {
      rmSync(tempPath, { force: true })
      if (isExistsError(error)) return 'changed'
      throw error
    }
    hash = newHash
    identity = undefined
    await fsyncFolder(dirname(target.file))
    return 'written'
  }

  /** Swaps the new file with the current one. */
  function replace(part: string, { file, backupFolder: at }: TargetPath, now: number): void {
    const before = hash ?? ''
    // The name has the hash from before any late save.
    const old = join(at, `${basename(file)}.${hash ?? 'none'}.${randomHex(6)}.old`)
    renameSync(part, old)
    if (!swapFiles(old, file)) {
      // Without an atomic swap, a save by an editor at this exact moment is lost.
      renameSync(old, part)
      linkSync(file, old)
      renameSync(part, file)
    }
    const { identity: replacedIdentity } = statFile(old)
    const found = hashReplaced(old)
    // A save between the last check and the swap has another hash, so `readLateSaves` reports it.
    replacedFiles.push({
      path: old,
      until: now + replacedRetentionMs,
      identity: found === before ? replacedIdentity : '',
      hash: before,
    })
  }

  /** Returns complete texts that were saved into replaced files. */
  function readLateSaves(now: number): FileContent[] {
    const texts: FileContent[] = []
    for (const old of replacedFiles.slice()) {
      try {
        const at = statFile(old.path)
        const isSame = at.identity === old.identity
        if (!isSame) {
          const bytes = readReplaced(old.path)
          const text = bytes.toString('utf8')
          if (isRecentlyWritten(at, now, text)) continue
          const found = sha256Hex(bytes)
          old.identity = at.identity
          if (found !== old.hash) texts.push({ text, bytes })
          old.hash = found
        }
        if (old.until > now) continue
        rmSync(old.path, { force: true })
      } catch {
        // Already deleted.
      }
      replacedFiles.splice(replacedFiles.indexOf(old), 1)
      if (dirname(old.path) !== backupFolder) removeEmptyFolder(dirname(old.path))
    }
    return texts
  }

  /** Whether nothing was written, which is nearly always the case. */
  function isUnchanged(now: number): boolean {
    if (inspect(now).as !== 'same') return false
    if (replacedFiles.length === 0 || Math.abs(now - lastLateCheckAt) < lateCheckIntervalMs)
      return true
    lastLateCheckAt = now
    return replacedFiles.every(({ path: at, until, identity: known }) => {
      try {
        return until > now && statFile(at).identity === known
      } catch {
        return false
      }
    })
  }

  return {
    path,
    inspect,
    read,
    isUnchanged,
    accept,
    write,
    readLateSaves,
    hash: () => hash,
    isWatching: () => replacedFiles.length > 0,
  }
}

/**
 * Splits at `.cowork` into the folder around it and the path below, on which no link is followed.
 */
function splitBackupPath(backupFolder: string): [folder: string, path: string] {
  const at = backupFolder.lastIndexOf(`${sep}.cowork`)
  return [backupFolder.slice(0, at), backupFolder.slice(at + 1).replaceAll(sep, '/')]
}

type IsProtected = (path: string) => boolean
type TargetPath = { readonly file: string; readonly backupFolder: string }

/**
 * Resolves a link to its target. The `.cowork` folder is next to the target, because a swap works
 * only within one file system.
 */
function resolveTarget(path: string, backupFolder: string, isProtected: IsProtected): TargetPath {
  if (!isLink(path)) return { file: path, backupFolder }
  const file = realpathSync(path)
  assertNotProtected(file, isProtected)
  return { file, backupFolder: join(dirname(file), '.cowork') }
}

function assertNotProtected(real: string, isProtected: IsProtected): void {
  if (isProtected(real)) throw new Error('The file is a symbolic link to a protected path.')
}

const readReplaced = (path: string) => withRegularFile(path, (file) => readFileSync(file))
const hashReplaced = (path: string) => withRegularFile(path, hashFile)

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

const danglingLink: FileState = { as: 'unusable', message: 'The file is a dangling symbolic link.' }

/** Removes an empty `.cowork` folder next to the target of a link. */
function removeEmptyFolder(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Not empty.
  }
}

type FileStats = {
  readonly identity: string
  readonly isFile: boolean
  readonly modifiedMs: number
}

function statFile(path: string): FileStats {
  const { ino, size, mtimeNs, ctimeNs, mode } = statSync(path, { bigint: true })
  return {
    // Only the kernel sets ctime, so it detects copies with an old mtime.
    identity: `${ino} ${size} ${mtimeNs} ${ctimeNs}`,
    isFile: (mode & 0o170000n) === 0o100000n,
    modifiedMs: Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n),
  }
}

const isRecentlyWritten = ({ modifiedMs }: FileStats, now: number, text: string) =>
  Math.abs(now - modifiedMs) < (text.endsWith('\n') ? settleDelayMs : partialSaveDelayMs)

/** Lists leftovers next to the name and next to the target of its link. */
function findReplacedFiles(
  path: string,
  backupFolder: string,
  isProtected: IsProtected,
): ReplacedFile[] {
  const here = listReplacedFiles(backupFolder, basename(path))
  try {
    const target = resolveTarget(path, backupFolder, isProtected)
    return target.backupFolder === backupFolder
      ? here
      : [...here, ...listReplacedFiles(target.backupFolder, basename(target.file))]
  } catch {
    return here
  }
}

/**
 * Lists replaced files of a killed process, into which an editor may have saved. Deletes unfinished
 * ones.
 */
function listReplacedFiles(folder: string, name: string): ReplacedFile[] {
  try {
    const files = listInside(...splitBackupPath(folder)).filter((file) =>
      file.startsWith(`${name}.`),
    )
    for (const file of files.filter((one) => one.endsWith('.part'))) rmSync(join(folder, file))
    return files
      .filter((file) => file.endsWith('.old'))
      .map((file) => ({
        path: join(folder, file),
        until: 0,
        identity: '',
        hash: file.split('.').at(-3) ?? '',
      }))
  } catch {
    return []
  }
}

const isExistsError = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST'
const unusable = (error: unknown): FileState => ({ as: 'unusable', message: errorMessage(error) })
