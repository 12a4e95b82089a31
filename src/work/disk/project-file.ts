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
  folderInside,
  hashFile,
  isMissing,
  namesInside,
  openPlain,
  placeOfOpen,
  writeFileInChunks,
  withPlain,
} from './confined-read.ts'

/** The saved content: as text, and as bytes in case the text is not valid UTF-8. */
export type FileContent = { readonly text: string; readonly bytes: Buffer }

export type FileState =
  | { readonly as: 'same' | 'missing' | 'unsettled' }
  | ({ readonly as: 'changed'; readonly hash: string } & FileContent)
  /** Not a regular file, or unreadable. */
  | { readonly as: 'unusable'; readonly message: string }

type Old = { readonly path: string; readonly until: number; identity: string; hash: string }

/** A file counts as complete this long after the last write. */
const settleMs = 80
/** The delay for a file that is empty or ends within a line, which is probably a partial save. */
const halfMs = 1000
/** How long an editor may keep a replaced file open. */
const holdMs = 5000
/** Minimum interval between checks of replaced files. */
const lateMs = 50

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
    own = join(dirname(path), '.cowork'),
    isProtected,
  }: { readonly own?: string; readonly isProtected: IsProtected },
) {
  let hash = known
  let identity: string | undefined
  /** Replaced files, newest last. */
  const olds: Old[] = leftBehind(path, own, isProtected)
  let lateAt = -Infinity

  function look(now: number): FileState {
    let at: Facts
    try {
      at = factsOf(path)
    } catch (error) {
      if (!isMissing(error)) return unusable(error)
      return isLink(path) ? leadsNowhere : { as: 'missing' }
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
      if (factsOf(path).identity !== at.identity) return { as: 'unsettled' }
      if (found === hash) {
        identity = at.identity
        return { as: 'same' }
      }
      if (isFresh(at, now, text)) return { as: 'unsettled' }
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
    const file = openPlain(target)
    try {
      if (target !== path) checkPlan(placeOfOpen(file, target), isProtected)
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
    const place = placeAt(path, own, isProtected)
    folderInside(...ownParts(place.own))
    const part = join(place.own, `${basename(place.file)}.${randomHex(6)}.part`)
    let wanted: string
    try {
      wanted = await writeFileInChunks(part, parts)
      const seen = look(now())
      if (seen.as === 'missing') linkSync(part, path)
      else if (seen.as === 'same' && wanted !== hash) replace(part, place, now())
      rmSync(part, { force: true })
      if (seen.as !== 'missing' && seen.as !== 'same') return 'changed'
    } catch (error) {
      rmSync(part, { force: true })
      if (isTaken(error)) return 'changed'
      throw error
    }
    hash = wanted
    identity = undefined
    await fsyncFolder(dirname(place.file))
    return 'written'
  }

  /** Swaps the new file with the current one. */
  function replace(part: string, { file, own: at }: Place, now: number): void {
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
    const { identity: stood } = factsOf(old)
    const found = hashAt(old)
    // A save between the last check and the swap has another hash, so `late` reports it.
    olds.push({
      path: old,
      until: now + holdMs,
      identity: found === before ? stood : '',
      hash: before,
    })
  }

  /** Returns complete texts that were saved into replaced files. */
  function late(now: number): FileContent[] {
    const texts: FileContent[] = []
    for (const old of olds.slice()) {
      try {
        const at = factsOf(old.path)
        const isQuiet = at.identity === old.identity
        if (!isQuiet) {
          const bytes = readAt(old.path)
          const text = bytes.toString('utf8')
          if (isFresh(at, now, text)) continue
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
      olds.splice(olds.indexOf(old), 1)
      if (dirname(old.path) !== own) tidied(dirname(old.path))
    }
    return texts
  }

  /** Whether nothing was written, which is nearly always the case. */
  function isQuiet(now: number): boolean {
    if (look(now).as !== 'same') return false
    if (olds.length === 0 || Math.abs(now - lateAt) < lateMs) return true
    lateAt = now
    return olds.every(({ path: at, until, identity: known }) => {
      try {
        return until > now && factsOf(at).identity === known
      } catch {
        return false
      }
    })
  }

  return {
    path,
    look,
    read,
    isQuiet,
    accept,
    write,
    late,
    hash: () => hash,
    isWatching: () => olds.length > 0,
  }
}

/**
 * Splits at `.cowork` into the folder around it and the path below, on which no link is followed.
 */
function ownParts(own: string): [folder: string, path: string] {
  const at = own.lastIndexOf(`${sep}.cowork`)
  return [own.slice(0, at), own.slice(at + 1).replaceAll(sep, '/')]
}

type IsProtected = (path: string) => boolean
type Place = { readonly file: string; readonly own: string }

/**
 * Resolves a link to its target. The `.cowork` folder is next to the target, because a swap works
 * only within one file system.
 */
function placeAt(path: string, own: string, isProtected: IsProtected): Place {
  if (!isLink(path)) return { file: path, own }
  const file = realpathSync(path)
  checkPlan(file, isProtected)
  return { file, own: join(dirname(file), '.cowork') }
}

function checkPlan(real: string, isProtected: IsProtected): void {
  if (isProtected(real)) throw new Error('The file is a symbolic link to a protected path.')
}

const readAt = (path: string) => withPlain(path, (file) => readFileSync(file))
const hashAt = (path: string) => withPlain(path, hashFile)

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

const leadsNowhere: FileState = { as: 'unusable', message: 'The file is a dangling symbolic link.' }

/** Removes an empty `.cowork` folder next to the target of a link. */
function tidied(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Not empty.
  }
}

type Facts = { readonly identity: string; readonly isFile: boolean; readonly modifiedMs: number }

function factsOf(path: string): Facts {
  const { ino, size, mtimeNs, ctimeNs, mode } = statSync(path, { bigint: true })
  return {
    // Only the kernel sets ctime, so it detects copies with an old mtime.
    identity: `${ino} ${size} ${mtimeNs} ${ctimeNs}`,
    isFile: (mode & 0o170000n) === 0o100000n,
    modifiedMs: Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n),
  }
}

const isFresh = ({ modifiedMs }: Facts, now: number, text: string) =>
  Math.abs(now - modifiedMs) < (text.endsWith('\n') ? settleMs : halfMs)

/** Lists leftovers next to the name and next to the target of its link. */
function leftBehind(path: string, own: string, isProtected: IsProtected): Old[] {
  const here = leftovers(own, basename(path))
  try {
    const place = placeAt(path, own, isProtected)
    return place.own === own ? here : [...here, ...leftovers(place.own, basename(place.file))]
  } catch {
    return here
  }
}

/**
 * Lists replaced files of a killed process, into which an editor may have saved. Deletes unfinished
 * ones.
 */
function leftovers(folder: string, name: string): Old[] {
  try {
    const files = namesInside(...ownParts(folder)).filter((file) => file.startsWith(`${name}.`))
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

const isTaken = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST'
const unusable = (error: unknown): FileState => ({ as: 'unusable', message: errorMessage(error) })
