import { sha256Hex } from '#base/hash.ts'

/** File systems take 255 bytes, and something is put behind it, such as a hash. */
const mostBytes = 120

const isPlain = (id: string): boolean => id.length <= mostBytes && /^[\w-]+$/.test(id)

const spelt = (odd: string): string =>
  [...Buffer.from(odd)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/**
 * An id as the name of a file. Those that tools give stay as they are (W14); people may write any into the
 * plan, so that the rest is spelt out: no name leaves its folder, is hidden, or is that of another id.
 */
export function fileNameOf(id: string): string {
  // Nearly all of them: a search asks for each.
  if (isPlain(id)) return id
  const name = id.replaceAll(/[^\p{L}\p{M}\p{N}_. -]|^[. ]|[. ]$/gu, spelt)
  if (Buffer.byteLength(name) <= mostBytes) return name
  return `${name.replaceAll(/[^\w-]/g, '').slice(0, 40)}~${sha256Hex(id).slice(0, 32)}`
}

/** The id again, as far as the name tells it. */
export function idIn(name: string): string {
  try {
    return name.includes('~') ? name : decodeURIComponent(name)
  } catch {
    return name
  }
}
