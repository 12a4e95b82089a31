import { isUtf8 } from 'node:buffer'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import { fileNameOf } from './file-name.ts'
import { isMissing, readInside } from './inside.ts'

/** Longer ones are no text of one item any more. */
export const mostTextBytes = 256_000

/** The long text of a backlog item, as it stands. */
export type FoundText =
  | { readonly as: 'none' }
  | { readonly as: 'text'; readonly text: string; readonly sha256: string }
  /** Something is there that cannot be given or replaced, and why. */
  | { readonly as: 'unusable'; readonly why: string }

/** Below a project's folder, with `/` between. */
export const textName = (id: string): string => `BACKLOG/${fileNameOf(id)}.md`

/** What stands at a name: nothing, a file of its own, or why it is neither. No link is followed (W25). */
export function standingAt(folder: string, id: string): 'none' | 'file' | { readonly why: string } {
  try {
    if (lstatSync(join(folder, 'BACKLOG')).isSymbolicLink())
      return { why: 'BACKLOG is a link, and is not followed' }
    const about = lstatSync(join(folder, textName(id)))
    if (about.isSymbolicLink()) return { why: 'it is a link, and is not followed' }
    return about.isFile() ? 'file' : { why: 'it is not a file' }
  } catch (error) {
    return isMissing(error) ? 'none' : { why: messageOf(error) }
  }
}

export function readTextFile(folder: string, id: string): FoundText {
  const standing = standingAt(folder, id)
  if (standing === 'none') return { as: 'none' }
  if (standing !== 'file') return { as: 'unusable', why: standing.why }
  try {
    // What was put there since is not followed, and not waited for.
    const bytes = readInside(folder, textName(id), mostTextBytes)
    if (!isUtf8(bytes)) return { as: 'unusable', why: 'it is not UTF-8' }
    return { as: 'text', text: bytes.toString('utf8'), sha256: sha256Hex(bytes) }
  } catch (error) {
    return isMissing(error) ? { as: 'none' } : { as: 'unusable', why: messageOf(error) }
  }
}
