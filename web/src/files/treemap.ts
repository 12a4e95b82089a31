import { hierarchy, treemap as createLayout, treemapSquarify } from 'd3-hierarchy'

export type Box = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

type Sized = { readonly bytes: number }
type Node<T> = { readonly item?: T; readonly children?: readonly Node<T>[] }

/** Returns one rectangle per item, the largest first; areas are proportional to sizes, shapes close to squares. */
export function treemap<T extends Sized>(
  items: readonly T[],
  { width, height }: { readonly width: number; readonly height: number },
): { item: T; box: Box }[] {
  if (width <= 0 || height <= 0) return []
  const children = items.filter(({ bytes }) => bytes > 0).map((item) => ({ item }))
  const root = hierarchy<Node<T>>({ children })
    .sum(({ item }) => item?.bytes ?? 0)
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0))
  const layout = createLayout<Node<T>>().tile(treemapSquarify.ratio(1)).size([width, height])
  return layout(root)
    .leaves()
    .flatMap(({ data: { item }, x0, y0, x1, y1 }) =>
      item ? [{ item, box: { x: x0, y: y0, width: x1 - x0, height: y1 - y0 } }] : [],
    )
}
