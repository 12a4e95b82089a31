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

/** What somebody wrote: as text, and byte for byte where it is no UTF-8. */
export type FileContent = { readonly text: string; readonly bytes: Buffer }

export type FileState =
  | { readonly as: 'same' | 'missing' | 'unsettled' }
  | ({ readonly as: 'changed'; readonly hash: string } & FileContent)
  /** Something stands there that is no file, or cannot be read. */
  | { readonly as: 'unusable'; readonly message: string }

type Old = { readonly path: string; readonly until: number; identity: string; hash: string }

/** So long after the last write a file counts as written to its end. */
const settleMs = 80
/** So long if it ends within a line, or has nothing in it: then it is probably the half of a save. */
const halfMs = 1000
/** So long an editor may still hold a file that has been replaced. */
const holdMs = 5000
/** What has been replaced is looked at so often, however often somebody calls. */
const lateMs = 50

export type ProjectFile = ReturnType<typeof createProjectFile>

/**
 * One file that people edit while the program writes it. It is replaced whole and in one step (W3);
 * what stood there is kept for a while in a folder of our own, because an editor may have saved it in the
 * last moment, or may save into it yet. Where it is a link, the file that it leads to is meant, and the link
 * stays; one that leads to a protected path, or to another link, is not followed (PV4).
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
  /** What stood at the name before, newest last. */
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
    if (!at.isFile) return { as: 'unusable', message: 'It is not a file.' }
    let file: number | undefined
    try {
      file = open()
      // Of a file that is as it was, nobody needs the text.
      const isKnown = hashFile(file) === hash
      const bytes = isKnown ? Buffer.of() : readFileSync(file)
      const text = bytes.toString('utf8')
      const found = isKnown ? (hash ?? '') : sha256Hex(bytes)
      // Written meanwhile: what was read may be half of it.
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

  /** The file, or the one that it is a link to; where that lies is judged once it is open. */
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

  /** Its bytes as they are; nothing where it is missing. */
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

  /** The text that was found is taken over: from now on the file is the same until it changes again. */
  function accept(found: string): void {
    hash = found
    identity = undefined
  }

  /**
   * Puts a text in place of the one that is known. `changed` where somebody was faster; nothing is lost.
   * Only the exchange itself holds everybody up, not the disk.
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

  /** The new text stands at the name afterwards, and what stood there at the name of the new one. */
  function replace(part: string, { file, own: at }: Place, now: number): void {
    const before = hash ?? ''
    // Says what it was before anybody saved into it.
    const old = join(at, `${basename(file)}.${hash ?? 'none'}.${randomHex(6)}.old`)
    renameSync(part, old)
    if (!swapFiles(old, file)) {
      // As near as other systems come: an editor that replaces the file in this very moment loses.
      renameSync(old, part)
      linkSync(file, old)
      renameSync(part, file)
    }
    const { identity: stood } = factsOf(old)
    const found = hashAt(old)
    // Saved between the last look and the exchange: told by `late`, for its hash is not the known one.
    olds.push({
      path: old,
      until: now + holdMs,
      identity: found === before ? stood : '',
      hash: before,
    })
  }

  /** Texts that were saved into what has been replaced, once they are whole. */
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
        // Gone: somebody tidied up.
      }
      olds.splice(olds.indexOf(old), 1)
      if (dirname(old.path) !== own) tidied(dirname(old.path))
    }
    return texts
  }

  /** Nobody has written anything, as nearly always. */
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

/** The folder around `.cowork`, and the path from there, on which no link is followed. */
function ownParts(own: string): [folder: string, path: string] {
  const at = own.lastIndexOf(`${sep}.cowork`)
  return [own.slice(0, at), own.slice(at + 1).replaceAll(sep, '/')]
}

type IsProtected = (path: string) => boolean
type Place = { readonly file: string; readonly own: string }

/** The file itself where the name is a link; what is exchanged with it has to lie on its disk. */
function placeAt(path: string, own: string, isProtected: IsProtected): Place {
  if (!isLink(path)) return { file: path, own }
  const file = realpathSync(path)
  checkPlan(file, isProtected)
  return { file, own: join(dirname(file), '.cowork') }
}

function checkPlan(real: string, isProtected: IsProtected): void {
  if (isProtected(real)) throw new Error('It is a link to a protected path, which is not followed.')
}

/** Of what has been replaced: in a folder of our own, and no link. */
const readAt = (path: string) => withPlain(path, (file) => readFileSync(file))
const hashAt = (path: string) => withPlain(path, hashFile)

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

const leadsNowhere: FileState = { as: 'unusable', message: 'It is a link that leads to no file.' }

/** A folder beside somebody else's file is not left there empty. */
function tidied(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Something is in it yet.
  }
}

type Facts = { readonly identity: string; readonly isFile: boolean; readonly modifiedMs: number }

function factsOf(path: string): Facts {
  const { ino, size, mtimeNs, ctimeNs, mode } = statSync(path, { bigint: true })
  return {
    // The time of change is set by the system alone: copies with an old date are seen by it.
    identity: `${ino} ${size} ${mtimeNs} ${ctimeNs}`,
    isFile: (mode & 0o170000n) === 0o100000n,
    modifiedMs: Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n),
  }
}

const isFresh = ({ modifiedMs }: Facts, now: number, text: string) =>
  Math.abs(now - modifiedMs) < (text.endsWith('\n') ? settleMs : halfMs)

/** Beside the name, and beside the file that it leads to. */
function leftBehind(path: string, own: string, isProtected: IsProtected): Old[] {
  const here = leftovers(own, basename(path))
  try {
    const place = placeAt(path, own, isProtected)
    return place.own === own ? here : [...here, ...leftovers(place.own, basename(place.file))]
  } catch {
    return here
  }
}

/** What a process that was ended left behind: an editor may have saved into it. What it did not finish goes. */
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
