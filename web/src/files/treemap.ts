export type Box = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

type Sized = { readonly bytes: number }

/**
 * Rectangles whose areas are as the sizes, each as near to a square as its row allows: rows are filled
 * along the shorter side for as long as that makes the worst one better. The largest come first.
 */
export function treemap<T extends Sized>(
  items: readonly T[],
  { width, height }: { readonly width: number; readonly height: number },
): { item: T; box: Box }[] {
  const sorted = items.filter(({ bytes }) => bytes > 0).toSorted((a, b) => b.bytes - a.bytes)
  const total = sorted.reduce((sum, { bytes }) => sum + bytes, 0)
  if (total === 0 || width <= 0 || height <= 0) return []
  const scale = (width * height) / total
  const areas = sorted.map((item) => ({ item, area: item.bytes * scale }))
  const placed: { item: T; box: Box }[] = []
  let free: Box = { x: 0, y: 0, width, height }
  let from = 0
  while (from < areas.length) {
    const side = Math.min(free.width, free.height)
    let to = from + 1
    while (
      to < areas.length &&
      worst(areas.slice(from, to + 1), side) <= worst(areas.slice(from, to), side)
    )
      to++
    const row = areas.slice(from, to)
    const sum = row.reduce((all, { area }) => all + area, 0)
    const isUpright = free.width >= free.height
    // The last row takes what is left, so that no sliver remains of rounding.
    const isLast = to === areas.length
    const depth = isLast ? (isUpright ? free.width : free.height) : sum / side
    let along = 0
    for (const { item, area } of row) {
      const length = (area / sum) * side
      placed.push({
        item,
        box: isUpright
          ? { x: free.x, y: free.y + along, width: depth, height: length }
          : { x: free.x + along, y: free.y, width: length, height: depth },
      })
      along += length
    }
    free = isUpright
      ? { ...free, x: free.x + depth, width: free.width - depth }
      : { ...free, y: free.y + depth, height: free.height - depth }
    from = to
  }
  return placed
}

/** How far the least square of a row is from a square. */
function worst(row: readonly { readonly area: number }[], side: number): number {
  const areas = row.map(({ area }) => area)
  const sum = areas.reduce((all, area) => all + area, 0)
  const squared = (sum / side) ** 2
  return Math.max(squared / Math.min(...areas), Math.max(...areas) / squared)
}
