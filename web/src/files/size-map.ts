import { treemap } from './treemap.ts'
import type { Box } from './treemap.ts'
import { collapseSmall, sumUsage } from './usage.ts'
import type { UsageNode } from './usage.ts'

export type MapBox = {
  readonly part: UsageNode
  readonly box: Box
  /** 1 for what lies in a folder that is drawn around it. */
  readonly level: 0 | 1
  /** Its content is drawn in it, under its name. */
  readonly isOpen: boolean
}

/** What is narrower can neither be read nor pressed (WCAG 2.5.8). */
const leastSide = 26
const leastOpen = { width: 104, height: 72 }
const edge = 4
export const headHeight = 24

/** Two levels as boxes, in the order of drawing: what lies in a folder comes after it. */
export function layoutSizeMap(
  parts: readonly UsageNode[],
  frame: { readonly width: number; readonly height: number },
): MapBox[] {
  return placed(parts, frame, '').flatMap(({ item: part, box }): MapBox[] => {
    const hasRoom = box.width >= leastOpen.width && box.height >= leastOpen.height
    const inner = {
      x: box.x + edge,
      y: box.y + headHeight,
      width: box.width - 2 * edge,
      height: box.height - headHeight - edge,
    }
    const inside = hasRoom ? placed(part.parts, inner, part.path) : []
    return [
      { part, box, level: 0, isOpen: inside.length > 0 },
      ...inside.map(({ item, box: at }): MapBox => {
        const moved = { ...at, x: inner.x + at.x, y: inner.y + at.y }
        return { part: item, box: moved, level: 1, isOpen: false }
      }),
    ]
  })
}

/** Those that are too small to have a box are one together, which makes others wider. */
function placed(
  parts: readonly UsageNode[],
  frame: { readonly width: number; readonly height: number },
  path: string,
) {
  const whole = sumUsage(parts)
  for (let most = 0; ;) {
    const boxes = treemap(
      collapseSmall(parts, ({ bytes }) => bytes > most, whole, path),
      frame,
    )
    const narrow = boxes.filter(
      ({ item, box }) => item.kind !== 'rest' && Math.min(box.width, box.height) < leastSide,
    )
    if (narrow.length === 0) return boxes
    // One after the other: without the smallest the next may be wide enough.
    most = Math.min(...narrow.map(({ item }) => item.bytes))
  }
}

/** A letter of the small text, on average, and what is beside and above the words. */
const letter = 6.5
const line = 18
const around = 14
/** So much of a name says which one it is. */
const tellingLetters = 7

/** Which words there is room for: a name may end in an ellipsis, but not before it tells anything. */
export function fitLabels(box: Box, name: string, size: string, isOpen: boolean) {
  const width = box.width - around
  const hasName =
    width >= Math.min(name.length, tellingLetters) * letter && box.height >= line + around / 2
  const besides = isOpen ? Math.min(name.length, tellingLetters) * letter + around : 0
  const hasSize =
    hasName &&
    width - besides >= size.length * letter &&
    (isOpen || box.height >= 2 * line + around / 2)
  return { hasName, hasSize }
}
