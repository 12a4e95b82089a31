import type { Row } from './flat.ts'

/**
 * Whether values are equal on disk, where an absent key equals one without a value. Same result as
 * comparing `canonicalKey`, but faster: merging compares every field of every item, most of them
 * equal or short.
 */
export function isEqualValue(one: unknown, other: unknown): boolean {
  const [a, b] = [toStored(one), toStored(other)]
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((entry, at) => isEqualValue(entry, b[at]))
    )
  const [mine, yours] = [a as Row, b as Row]
  const names = Object.keys(mine).filter((name) => mine[name] !== undefined)
  const others = Object.keys(yours).filter((name) => yours[name] !== undefined)
  return (
    names.length === others.length &&
    names.every((name) => yours[name] !== undefined && isEqualValue(mine[name], yours[name]))
  )
}

const toStored = (value: unknown): unknown =>
  value === undefined || (typeof value === 'number' && !Number.isFinite(value)) ? null : value

/** Serializes a value with sorted keys. */
export const canonicalKey = (value: unknown): string => JSON.stringify(value ?? null, sortKeys)

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Whether two values of a field are equal. Leases are equal with the same fence: the store has the
 * current expiry (W7).
 */
export const isSameField = (field: string, a: unknown, b: unknown): boolean =>
  isEqualValue(a, b) ||
  (field === 'lease' && getFence(a) !== undefined && getFence(a) === getFence(b))

const getFence = (lease: unknown): unknown =>
  typeof lease === 'object' && lease !== null && 'fence' in lease ? lease.fence : undefined

/**
 * Returns the identity of a list entry: the text of an acceptance criterion, otherwise the full
 * value.
 */
const identity = (entry: unknown): string =>
  typeof entry === 'object' && entry !== null && 'text' in entry && !('at' in entry)
    ? String(entry.text)
    : canonicalKey(entry)

/**
 * Merges lists three ways: keeps additions of both sides and removes entries that one side removed
 * and the other left unchanged.
 */
export function mergeLists(
  base: readonly unknown[],
  ours: readonly unknown[],
  theirs: readonly unknown[],
): unknown[] {
  const [baseEntries, ourEntries, theirEntries] = [
    keyEntries(base),
    keyEntries(ours),
    keyEntries(theirs),
  ]
  const merged: unknown[] = []
  for (const [key, entry] of theirEntries) {
    const own = ourEntries.get(key)
    if (own !== undefined)
      // In both lists: the changed entry wins, and ours if both changed it.
      merged.push(isEqualValue(own, baseEntries.get(key)) ? entry : own)
    else if (!baseEntries.has(key)) merged.push(entry)
    else if (!isEqualValue(entry, baseEntries.get(key))) merged.push(entry)
  }
  for (const [key, entry] of ourEntries)
    if (
      !theirEntries.has(key) &&
      (!baseEntries.has(key) || !isEqualValue(entry, baseEntries.get(key)))
    )
      merged.push(entry)
  return merged
}

/** Keys entries by identity; equal entries are numbered. */
function keyEntries(list: readonly unknown[]): Map<string, unknown> {
  const counts = new Map<string, number>()
  return new Map(
    list.map((entry) => {
      const key = identity(entry)
      const n = (counts.get(key) ?? 0) + 1
      counts.set(key, n)
      return [`${key}#${n}`, entry]
    }),
  )
}
