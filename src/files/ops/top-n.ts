/** Keeps the first `count` items in order, without storing all of them. */
export function createTopN<T>(count: number, compare: (a: T, b: T) => number) {
  let items: T[] = []
  // Sorted and truncated at this size, so that the cost per item and the memory stay bounded.
  const maxItems = Math.max(2 * count, count + 1024)
  let boundary: T | undefined

  const compact = () => {
    items = items.sort(compare).slice(0, count)
    boundary = items.length === count ? items.at(-1) : undefined
  }
  return {
    add(item: T): void {
      if (boundary !== undefined && compare(item, boundary) >= 0) return
      items.push(item)
      if (items.length >= maxItems) compact()
    },
    sorted(): readonly T[] {
      compact()
      return items
    },
  }
}

/** Compares by code units: locale-independent and fast. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Compares paths by name, so that a folder comes directly before its content. */
export function comparePath(a: string, b: string): number {
  if (a === b) return 0
  const [namesOfA, namesOfB] = [a.split('/'), b.split('/')]
  for (const [index, name] of namesOfA.entries()) {
    const other = namesOfB[index]
    if (other === undefined) return 1
    if (name !== other) return compareText(name, other)
  }
  return -1
}
