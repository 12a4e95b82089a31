/** Whether values are the same on disk, where a key without a value and no key are one. */
export const isSame = (a: unknown, b: unknown): boolean => wordsOf(a) === wordsOf(b)

/** The same words for the same value, whatever the order of its keys. */
export const wordsOf = (value: unknown): string => JSON.stringify(value ?? null, inOrder)

function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** The same value of a field. A claim is the same until another one has it: how long it lasts the store knows (W7). */
export const isSameField = (field: string, a: unknown, b: unknown): boolean =>
  isSame(a, b) || (field === 'lease' && fenceOf(a) !== undefined && fenceOf(a) === fenceOf(b))

const fenceOf = (lease: unknown): unknown =>
  typeof lease === 'object' && lease !== null && 'fence' in lease ? lease.fence : undefined

/** By what two entries of a list are the same one: acceptance by its text, the rest by all of it. */
const identity = (entry: unknown): string =>
  typeof entry === 'object' && entry !== null && 'text' in entry && !('at' in entry)
    ? String(entry.text)
    : wordsOf(entry)

/** Three lists made one: what either side added is there, what either side removed and the other left is not. */
export function mergeLists(
  base: readonly unknown[],
  ours: readonly unknown[],
  theirs: readonly unknown[],
): unknown[] {
  const [had, mine, yours] = [base, ours, theirs].map(
    (list) => new Map(list.map((entry) => [identity(entry), entry])),
  ) as [Map<string, unknown>, Map<string, unknown>, Map<string, unknown>]
  const merged: unknown[] = []
  for (const [key, entry] of yours) {
    const own = mine.get(key)
    if (own !== undefined)
      // Both have it: whoever changed it is followed, and ours where both did.
      merged.push(isSame(own, had.get(key)) ? entry : own)
    else if (!had.has(key)) merged.push(entry)
    else if (!isSame(entry, had.get(key))) merged.push(entry)
  }
  for (const [key, entry] of mine)
    if (!yours.has(key) && (!had.has(key) || !isSame(entry, had.get(key)))) merged.push(entry)
  return merged
}
