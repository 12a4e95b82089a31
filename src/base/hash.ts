import { createHash, hash, timingSafeEqual } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import canonicalize from 'canonicalize'

/** Hashes through a binary string, whose bytes come from a shared pool: a separate buffer would double the cost. */
export const sha256 = (data: string | Uint8Array): Buffer =>
  Buffer.from(hash('sha256', data, 'binary'), 'binary')

export const sha256Hex = (data: string | Uint8Array): string => hash('sha256', data, 'hex')

/** The event loop runs after each chunk: hashing 50 MB at once would block it for 50 to 100 ms (RS4). */
const chunkBytes = 2 * 1024 * 1024

/** Hashes content that may be as large as a file. */
export async function sha256HexInChunks(data: Uint8Array): Promise<string> {
  const hashing = createHash('sha256')
  for (let start = 0; start < data.length; start += chunkBytes) {
    if (start > 0) await setImmediate()
    hashing.update(data.subarray(start, start + chunkBytes))
  }
  return hashing.digest('hex')
}

/** Formats a value as RFC 8785 JSON: the form that is hashed, signed and compared. */
export function canonicalJson(value: unknown): string {
  const ordered = isCanonical(value, 0) ? value : sortKeys(value, 0)
  const text = ordered === unsupported ? canonicalize(value) : JSON.stringify(ordered)
  if (text === undefined) throw new TypeError('only JSON values have a canonical form')
  return text
}

const maxDepth = 64

/**
 * Returns whether JSON.stringify output is already canonical: plain JSON with sorted keys. Entries are built this way
 * and take 2 µs instead of 8.
 */
function isCanonical(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'boolean' || value === null || value === undefined) return true
  if (typeof value !== 'object' || depth === maxDepth) return false
  if (Array.isArray(value)) return value.every((item) => isCanonical(item, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  let before = ''
  // Four times as fast as Object.entries.
  for (const name in value) {
    const item: unknown = value[name as keyof typeof value]
    // JSON.stringify puts integer keys first.
    if (name <= before || !name.isWellFormed() || !isCanonical(item, depth + 1)) return false
    before = name
  }
  return true
}

const unsupported = Symbol('unsupported')

/** Copies a value with sorted keys. Returns `unsupported` for a value that only the library can format. */
function sortKeys(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null)
    return isCanonical(value, depth) ? value : unsupported
  if (depth === maxDepth) return unsupported
  if (Array.isArray(value)) {
    const items = value.map((item) => sortKeys(item, depth + 1))
    return items.includes(unsupported) ? unsupported : items
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return unsupported
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value).sort()) {
    const item = sortKeys(value[name as keyof typeof value], depth + 1)
    if (item === unsupported || name === '__proto__' || isIntegerKey(name) || !name.isWellFormed())
      return unsupported
    copy[name] = item
  }
  return copy
}

/** Returns whether objects order this key before all others, regardless of insertion order. */
export const isIntegerKey = (name: string): boolean => name >= '0' && name < ':'

/** Compares digests, so that timing reveals neither content nor length. */
export const secretsEqual = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b))
