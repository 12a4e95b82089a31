/** The first few of many, in order, without keeping the many. */
export function createTopN<T>(count: number, compare: (a: T, b: T) => number) {
  let kept: T[] = []
  // Sorted and cut whenever this many have come together, so each costs a little and nothing grows.
  const most = Math.max(2 * count, count + 1024)
  let last: T | undefined

  const settle = () => {
    kept = kept.sort(compare).slice(0, count)
    last = kept.length === count ? kept.at(-1) : undefined
  }
  return {
    add(item: T): void {
      if (last !== undefined && compare(item, last) >= 0) return
      kept.push(item)
      if (kept.length >= most) settle()
    },
    sorted(): readonly T[] {
      settle()
      return kept
    },
  }
}

/** Order of text by its code units: the same everywhere, and fast. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Order of paths name by name, so that a folder comes right before what is in it. */
export function comparePath(a: string, b: string): number {
  if (a === b) return 0
  const [namesOfA, namesOfB] = [a.split('/'), b.split('/')]
  for (const [place, name] of namesOfA.entries()) {
    const other = namesOfB[place]
    if (other === undefined) return 1
    if (name !== other) return compareText(name, other)
  }
  return -1
}
