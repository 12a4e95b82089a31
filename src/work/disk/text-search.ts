import { lstatSync, readdirSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import type { Clock } from '#base/clock.ts'
import { errorMessage } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import { toFileName } from './file-name.ts'
import { isMissing, readInside } from './confined-read.ts'

type Seen<What> = { readonly look: Look; readonly what: What }
type Look = Pick<Stats, 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>
type Folder = {
  names: Seen<ReadonlySet<string>> | undefined
  /** Lower-case texts by name; empty for unreadable ones. */
  readonly texts: Map<string, Seen<string>>
  lookedAt: number
}

/** Maximum number of cached characters; further texts are read again for each search. */
const mostKept = 32_000_000
/**
 * Two saves within this time can have the same mtime: some file systems have a resolution of 2 s.
 */
const freshMs = 3000
/**
 * With more texts than this, each is checked at most once per interval: one lstat takes 2 to 5 µs.
 */
const fewTexts = 500
const lookMs = 50
/** Yield after this time: the first search reads all texts. */
const turnMs = 8

/**
 * Creates the search in the texts of backlog items. People can save them at any time, so each
 * search checks each file and reads the changed ones (W20, W25).
 */
export function createTextSearch(now: Clock, { most = mostKept, few = fewTexts } = {}) {
  const folders = new Map<string, Folder>()
  let length = 0

  function folderAt(folder: string): Folder {
    const known = folders.get(folder) ?? {
      names: undefined,
      texts: new Map(),
      lookedAt: -Infinity,
    }
    folders.set(folder, known)
    return known
  }

  const isFresh = ({ ctimeMs }: Look): boolean => Math.abs(now() - ctimeMs) <= freshMs

  function drop({ texts }: Folder, name: string): void {
    length -= texts.get(name)?.what.length ?? 0
    texts.delete(name)
  }

  function namesIn(folder: string, own: Folder): ReadonlySet<string> {
    const path = `${folder}/BACKLOG`
    const at = lookAt(path)
    if (at && own.names && isSame(at, own.names.look)) return own.names.what
    const names = new Set(at?.isDirectory() ? textsIn(path) : [])
    own.names = at && !isFresh(at) ? { look: lookOf(at), what: names } : undefined
    for (const name of own.texts.keys()) if (!names.has(name)) drop(own, name)
    return names
  }

  function textOf(folder: string, id: string, name: string, own: Folder, isSoon: boolean): string {
    const known = own.texts.get(name)
    if (isSoon && known) return known.what
    const at = lookAt(`${folder}/BACKLOG/${name}.md`)
    if (at && known && isSame(at, known.look)) return known.what
    drop(own, name)
    const found = at ? readTextFile(folder, id) : undefined
    const text = found?.as === 'text' ? found.text.toLowerCase() : ''
    if (at && length + text.length <= most && !isFresh(at)) {
      own.texts.set(name, { look: lookOf(at), what: text })
      length += text.length
    }
    return text
  }

  return {
    /** Returns for each item which of the lower-case words its text contains. */
    async find(
      folder: string,
      ids: Iterable<string>,
      words: readonly string[],
    ): Promise<Map<string, readonly string[]>> {
      const found = new Map<string, readonly string[]>()
      const own = folderAt(folder)
      const { names: before } = own
      const names = namesIn(folder, own)
      const at = now()
      // The mtime of the folder reveals added, removed and replaced files.
      const isKept = before !== undefined && own.names === before
      const isSoon = isKept && names.size > few && Math.abs(at - own.lookedAt) < lookMs
      let since = performance.now()
      for (const id of names.size === 0 ? [] : ids) {
        const name = toFileName(id)
        if (!names.has(name)) continue
        const text = textOf(folder, id, name, own, isSoon)
        const held = words.filter((word) => text.includes(word))
        if (held.length > 0) found.set(id, held)
        if (performance.now() - since < turnMs) continue
        await othersTurn()
        since = performance.now()
      }
      if (!isSoon) own.lookedAt = at
      return found
    },
  }
}

function textsIn(path: string): string[] {
  try {
    return readdirSync(path).flatMap((file) => (file.endsWith('.md') ? file.slice(0, -3) : []))
  } catch {
    return []
  }
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    // Missing or inaccessible.
    return undefined
  }
}

const lookOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): Look => ({ ino, size, mtimeMs, ctimeMs })

const isSame = (at: Stats, { ino, size, mtimeMs, ctimeMs }: Look): boolean =>
  at.ino === ino && at.size === size && at.mtimeMs === mtimeMs && at.ctimeMs === ctimeMs

export const maxTextBytes = 256_000

export type TextFileState =
  | { readonly as: 'none' }
  | { readonly as: 'text'; readonly text: string; readonly sha256: string }
  | { readonly as: 'unusable'; readonly why: string }

/** Returns the path of a text relative to the project folder, with `/` as separator. */
export const textPath = (id: string): string => `BACKLOG/${toFileName(id)}.md`

/**
 * Returns whether the text is missing or a regular file, or why it is unusable. Links are not
 * followed (W25).
 */
export function statTextFile(
  folder: string,
  id: string,
): 'none' | 'file' | { readonly why: string } {
  try {
    if (lstatSync(join(folder, 'BACKLOG')).isSymbolicLink())
      return { why: 'BACKLOG is a symbolic link' }
    const about = lstatSync(join(folder, textPath(id)))
    if (about.isSymbolicLink()) return { why: 'the file is a symbolic link' }
    return about.isFile() ? 'file' : { why: 'not a regular file' }
  } catch (error) {
    return isMissing(error) ? 'none' : { why: errorMessage(error) }
  }
}

export function readTextFile(folder: string, id: string): TextFileState {
  const standing = statTextFile(folder, id)
  if (standing === 'none') return { as: 'none' }
  if (standing !== 'file') return { as: 'unusable', why: standing.why }
  try {
    // A link or FIFO put there since is not followed and does not block.
    const bytes = readInside(folder, textPath(id), maxTextBytes)
    if (!isUtf8(bytes)) return { as: 'unusable', why: 'the file is not valid UTF-8' }
    return { as: 'text', text: bytes.toString('utf8'), sha256: sha256Hex(bytes) }
  } catch (error) {
    return isMissing(error) ? { as: 'none' } : { as: 'unusable', why: errorMessage(error) }
  }
}
