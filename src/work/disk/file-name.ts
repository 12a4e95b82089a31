import { guardedReason } from '#base/guarded-paths.ts'
import { sha256Hex } from '#base/hash.ts'

/** File systems allow 255 bytes; the rest is for suffixes such as a hash. */
const maxNameBytes = 120

const isSafe = (id: string): boolean => id.length <= maxNameBytes && /^[\w-]+$/.test(id)

const escapeCharacters = (characters: string): string =>
  [...Buffer.from(characters)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/**
 * Agents follow instructions in such files: an item named `CLAUDE` must not write `CLAUDE.md` (F5).
 */
const isGuarded = (id: string): boolean =>
  guardedReason([`${id.normalize('NFKC').toLowerCase()}.md`]) !== undefined ||
  guardedReason([id.normalize('NFKC').toLowerCase()]) !== undefined

/**
 * Converts an id to a file name. Ids from tools stay unchanged (W14). People can write any id into
 * the file, so other characters are escaped: no name leaves its folder, is hidden, or collides with
 * another id.
 */
export function toFileName(id: string): string {
  // Fast path for nearly all ids: a search converts each one.
  if (isSafe(id) && !isGuarded(id)) return id
  const escaped = id.replaceAll(/[^\p{L}\p{M}\p{N}_. -]|^[. ]|[. ]$/gu, escapeCharacters)
  const name = isGuarded(escaped) ? escaped.replace(/^./u, escapeCharacters) : escaped
  if (Buffer.byteLength(name) <= maxNameBytes) return name
  return `${name.replaceAll(/[^\w-]/g, '').slice(0, 40)}~${sha256Hex(id).slice(0, 32)}`
}

export function parseFileName(name: string): string {
  try {
    return name.includes('~') ? name : decodeURIComponent(name)
  } catch {
    return name
  }
}
