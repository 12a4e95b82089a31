import { guardedReason } from '#base/guarded-paths.ts'
import { sha256Hex } from '#base/hash.ts'

/** File systems take 255 bytes, and something is put behind it, such as a hash. */
const mostBytes = 120

const isPlain = (id: string): boolean => id.length <= mostBytes && /^[\w-]+$/.test(id)

const spelt = (odd: string): string =>
  [...Buffer.from(odd)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** A program obeys a file of this name: an item called `CLAUDE` must not write `CLAUDE.md` (F5). */
const isGuarded = (id: string): boolean =>
  guardedReason([`${id.normalize('NFKC').toLowerCase()}.md`]) !== undefined ||
  guardedReason([id.normalize('NFKC').toLowerCase()]) !== undefined

/**
 * An id as the name of a file. Those that tools give stay as they are (W14); people may write any into the
 * plan, so that the rest is spelt out: no name leaves its folder, is hidden, or is that of another id.
 */
export function toFileName(id: string): string {
  // Nearly all of them: a search asks for each.
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
