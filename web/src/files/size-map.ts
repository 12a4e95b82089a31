import { treemap } from './treemap.ts'
import type { Box } from './treemap.ts'
import { collapseSmall, sumUsage } from './usage.ts'
import type { UsageNode } from './usage.ts'

export type MapBox = {
  readonly part: UsageNode
  readonly box: Box
  /** 1 for a box inside another box. */
  readonly level: 0 | 1
  /** Whether the contents are drawn inside the box. */
  readonly isOpen: boolean
}

/** Minimum size to read and press a box (WCAG 2.5.8). */
const minSide = 26
const minOpen = { width: 104, height: 72 }
const edge = 4
export const headHeight = 24

/** Lays out two levels of boxes in drawing order: a folder before its contents. */
export function layoutSizeMap(
  parts: readonly UsageNode[],
  frame: { readonly width: number; readonly height: number },
): MapBox[] {
  return layoutLevel(parts, frame, '').flatMap(({ item: part, box }): MapBox[] => {
    const hasCapacity = box.width >= minOpen.width && box.height >= minOpen.height
    const inner = {
      x: box.x + edge,
      y: box.y + headHeight,
      width: box.width - 2 * edge,
      height: box.height - headHeight - edge,
    }
    const inside = hasCapacity ? layoutLevel(part.parts, inner, part.path) : []
    return [
      { part, box, level: 0, isOpen: inside.length > 0 },
      ...inside.map(({ item, box: at }): MapBox => {
        const moved = { ...at, x: inner.x + at.x, y: inner.y + at.y }
        return { part: item, box: moved, level: 1, isOpen: false }
      }),
    ]
  })
}

/** Lays out one level and merges nodes that would be too small, which widens the others. */
function layoutLevel(
  parts: readonly UsageNode[],
  frame: { readonly width: number; readonly height: number },
  path: string,
) {
  const total = sumUsage(parts)
  for (let most = 0; ;) {
    const boxes = treemap(
      collapseSmall(parts, ({ bytes }) => bytes > most, total, path),
      frame,
    )
    const narrow = boxes.filter(
      ({ item, box }) => item.kind !== 'rest' && Math.min(box.width, box.height) < minSide,
    )
    if (narrow.length === 0) return boxes
    // Merge one node at a time: after that the next may be wide enough.
    most = Math.min(...narrow.map(({ item }) => item.bytes))
  }
}

/** Average letter width of small text, line height and padding, in pixels. */
const letterWidth = 6.5
const lineHeight = 18
const padding = 14
/** The shortest useful prefix of a name. */
const minNameLength = 7

/** Decides which labels fit: a name may be truncated, but not below the minimum length. */
export function fitLabels(box: Box, name: string, size: string, isOpen: boolean) {
  const width = box.width - padding
  const hasName =
    width >= Math.min(name.length, minNameLength) * letterWidth &&
    box.height >= lineHeight + padding / 2
  const besides = isOpen ? Math.min(name.length, minNameLength) * letterWidth + padding : 0
  const hasSize =
    hasName &&
    width - besides >= size.length * letterWidth &&
    (isOpen || box.height >= 2 * lineHeight + padding / 2)
  return { hasName, hasSize }
}
