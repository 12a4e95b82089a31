import type { Row } from './flat.ts'

/**
 * Whether values are the same on disk, where a key without a value and no key are one: as `wordsOf` says,
 * without the words. Merging compares every field of every item, most of them the same or short.
 */
export function isEqualValue(one: unknown, other: unknown): boolean {
  const [a, b] = [asWritten(one), asWritten(other)]
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

const asWritten = (value: unknown): unknown =>
  value === undefined || (typeof value === 'number' && !Number.isFinite(value)) ? null : value

/** The same words for the same value, whatever the order of its keys. */
export const canonicalKey = (value: unknown): string => JSON.stringify(value ?? null, inOrder)

function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** The same value of a field. A claim is the same until another one has it: how long it lasts the store knows (W7). */
export const isSameField = (field: string, a: unknown, b: unknown): boolean =>
  isEqualValue(a, b) || (field === 'lease' && fenceOf(a) !== undefined && fenceOf(a) === fenceOf(b))

const fenceOf = (lease: unknown): unknown =>
  typeof lease === 'object' && lease !== null && 'fence' in lease ? lease.fence : undefined

/** By what two entries of a list are the same one: acceptance by its text, the rest by all of it. */
const identity = (entry: unknown): string =>
  typeof entry === 'object' && entry !== null && 'text' in entry && !('at' in entry)
    ? String(entry.text)
    : canonicalKey(entry)

/** Three lists made one: what either side added is there, what either side removed and the other left is not. */
export function mergeLists(
  base: readonly unknown[],
  ours: readonly unknown[],
  theirs: readonly unknown[],
): unknown[] {
  const [had, mine, yours] = [keyed(base), keyed(ours), keyed(theirs)]
  const merged: unknown[] = []
  for (const [key, entry] of yours) {
    const own = mine.get(key)
    if (own !== undefined)
      // Both have it: whoever changed it is followed, and ours where both did.
      merged.push(isEqualValue(own, had.get(key)) ? entry : own)
    else if (!had.has(key)) merged.push(entry)
    else if (!isEqualValue(entry, had.get(key))) merged.push(entry)
  }
  for (const [key, entry] of mine)
    if (!yours.has(key) && (!had.has(key) || !isEqualValue(entry, had.get(key)))) merged.push(entry)
  return merged
}

/** Equal ones are told apart by how many came before. */
function keyed(list: readonly unknown[]): Map<string, unknown> {
  const counts = new Map<string, number>()
  return new Map(
    list.map((entry) => {
      const words = identity(entry)
      const n = (counts.get(words) ?? 0) + 1
      counts.set(words, n)
      return [`${words}#${n}`, entry]
    }),
  )
}
