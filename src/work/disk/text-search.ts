import { lstatSync, readdirSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import type { Clock } from '#base/clock.ts'
import { errorMessage } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import { toFileName } from './file-name.ts'
import { isMissing, readInside } from './confined-read.ts'

type Cached<What> = { readonly fingerprint: FileFingerprint; readonly value: What }
type FileFingerprint = Pick<Stats, 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>
type FolderCache = {
  names: Cached<ReadonlySet<string>> | undefined
  /** Lower-case texts by name; empty for unreadable ones. */
  readonly texts: Map<string, Cached<string>>
  checkedAt: number
}

/** Maximum number of cached characters; further texts are read again for each search. */
const maxCachedChars = 32_000_000
/**
 * Two saves within this time can have the same mtime: some file systems have a resolution of 2 s.
 */
const freshMs = 3000
/**
 * With more texts than this, each is checked at most once per interval: one lstat takes 2 to 5 µs.
 */
const throttleThreshold = 500
const checkIntervalMs = 50
/** Yield after this time: the first search reads all texts. */
const timeSliceMs = 8

/**
 * Creates the search in the texts of backlog items. People can save them at any time, so each
 * search checks each file and reads the changed ones (W20, W25).
 */
export function createTextSearch(
  now: Clock,
  { maxChars = maxCachedChars, threshold = throttleThreshold } = {},
) {
  const folders = new Map<string, FolderCache>()
  let length = 0

  function getFolderCache(folder: string): FolderCache {
    const known = folders.get(folder) ?? {
      names: undefined,
      texts: new Map(),
      checkedAt: -Infinity,
    }
    folders.set(folder, known)
    return known
  }

  const isFresh = ({ ctimeMs }: FileFingerprint): boolean => Math.abs(now() - ctimeMs) <= freshMs

  function dropText({ texts }: FolderCache, name: string): void {
    length -= texts.get(name)?.value.length ?? 0
    texts.delete(name)
  }

  function listNames(folder: string, own: FolderCache): ReadonlySet<string> {
    const path = `${folder}/BACKLOG`
    const at = tryLstat(path)
    if (at && own.names && matchesFingerprint(at, own.names.fingerprint)) return own.names.value
    const names = new Set(at?.isDirectory() ? readTextNames(path) : [])
    own.names = at && !isFresh(at) ? { fingerprint: toFingerprint(at), value: names } : undefined
    for (const name of own.texts.keys()) if (!names.has(name)) dropText(own, name)
    return names
  }

  function getText(
    folder: string,
    id: string,
    name: string,
    own: FolderCache,
    isThrottled: boolean,
  ): string {
    const known = own.texts.get(name)
    if (isThrottled && known) return known.value
    const at = tryLstat(`${folder}/BACKLOG/${name}.md`)
    if (at && known && matchesFingerprint(at, known.fingerprint)) return known.value
    dropText(own, name)
    const found = at ? readTextFile(folder, id) : undefined
    const text = found?.as === 'text' ? found.text.toLowerCase() : ''
    if (at && length + text.length <= maxChars && !isFresh(at)) {
      own.texts.set(name, { fingerprint: toFingerprint(at), value: text })
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
      const own = getFolderCache(folder)
      const { names: before } = own
      const names = listNames(folder, own)
      const at = now()
      // The mtime of the folder reveals added, removed and replaced files.
      const isUnchanged = before !== undefined && own.names === before
      const isSoon =
        isUnchanged && names.size > threshold && Math.abs(at - own.checkedAt) < checkIntervalMs
      let since = performance.now()
      for (const id of names.size === 0 ? [] : ids) {
        const name = toFileName(id)
        if (!names.has(name)) continue
        const text = getText(folder, id, name, own, isSoon)
        const matches = words.filter((word) => text.includes(word))
        if (matches.length > 0) found.set(id, matches)
        if (performance.now() - since < timeSliceMs) continue
        await yieldToEventLoop()
        since = performance.now()
      }
      if (!isSoon) own.checkedAt = at
      return found
    },
  }
}

function readTextNames(path: string): string[] {
  try {
    return readdirSync(path).flatMap((file) => (file.endsWith('.md') ? file.slice(0, -3) : []))
  } catch {
    return []
  }
}

function tryLstat(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    // Missing or inaccessible.
    return undefined
  }
}

const toFingerprint = ({ ino, size, mtimeMs, ctimeMs }: Stats): FileFingerprint => ({
  ino,
  size,
  mtimeMs,
  ctimeMs,
})

const matchesFingerprint = (at: Stats, { ino, size, mtimeMs, ctimeMs }: FileFingerprint): boolean =>
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
  const state = statTextFile(folder, id)
  if (state === 'none') return { as: 'none' }
  if (state !== 'file') return { as: 'unusable', why: state.why }
  try {
    // A link or FIFO put there since is not followed and does not block.
    const bytes = readInside(folder, textPath(id), maxTextBytes)
    if (!isUtf8(bytes)) return { as: 'unusable', why: 'the file is not valid UTF-8' }
    return { as: 'text', text: bytes.toString('utf8'), sha256: sha256Hex(bytes) }
  } catch (error) {
    return isMissing(error) ? { as: 'none' } : { as: 'unusable', why: errorMessage(error) }
  }
}
