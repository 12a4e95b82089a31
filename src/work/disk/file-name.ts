import { guardedReason } from '#base/guarded-paths.ts'
import { sha256Hex } from '#base/hash.ts'

/** File systems allow 255 bytes; the rest is for suffixes such as a hash. */
const mostBytes = 120

const isPlain = (id: string): boolean => id.length <= mostBytes && /^[\w-]+$/.test(id)

const spelt = (odd: string): string =>
  [...Buffer.from(odd)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

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
  if (isPlain(id) && !isGuarded(id)) return id
  const plain = id.replaceAll(/[^\p{L}\p{M}\p{N}_. -]|^[. ]|[. ]$/gu, spelt)
  const name = isGuarded(plain) ? plain.replace(/^./u, spelt) : plain
  if (Buffer.byteLength(name) <= mostBytes) return name
  return `${name.replaceAll(/[^\w-]/g, '').slice(0, 40)}~${sha256Hex(id).slice(0, 32)}`
}

export function parseFileName(name: string): string {
  try {
    return name.includes('~') ? name : decodeURIComponent(name)
  } catch {
    return name
  }
}
