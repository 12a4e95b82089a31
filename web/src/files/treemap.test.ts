import fc from 'fast-check'
import { expect, test } from 'vitest'
import { treemap } from './treemap.ts'

const area = ({ width, height }: { width: number; height: number }) => width * height
const sizes = fc.array(fc.record({ bytes: fc.integer({ min: 0, max: 5_000_000_000 }) }), {
  maxLength: 60,
})
const frames = fc.record({
  width: fc.integer({ min: 20, max: 2000 }),
  height: fc.integer({ min: 20, max: 1200 }),
})

test('C5 areas in the treemap are as the sizes, and fill the frame', () => {
  fc.assert(
    fc.property(sizes, frames, (items, frame) => {
      const placed = treemap(items, frame)
      const total = items.reduce((sum, { bytes }) => sum + bytes, 0)
      expect(placed.length).toBe(items.filter(({ bytes }) => bytes > 0).length)
      for (const { item, box } of placed)
        expect(area(box) / area(frame)).toBeCloseTo(item.bytes / total, 6)
    }),
  )
})

test('C5 no two boxes of the treemap overlap, and none leaves the frame', () => {
  fc.assert(
    fc.property(sizes, frames, (items, frame) => {
      const boxes = treemap(items, frame).map(({ box }) => box)
      const slack = 1e-6 * (frame.width + frame.height)
      for (const [at, a] of boxes.entries()) {
        expect(Math.min(a.x, a.y)).toBeGreaterThanOrEqual(-slack)
        expect(a.x + a.width).toBeLessThanOrEqual(frame.width + slack)
        expect(a.y + a.height).toBeLessThanOrEqual(frame.height + slack)
        for (const b of boxes.slice(at + 1)) {
          const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
          const down = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
          expect(Math.min(across, down)).toBeLessThanOrEqual(slack)
        }
      }
    }),
  )
})

test('C5 the treemap has no boxes where there is nothing, or no room', () => {
  expect(treemap([], { width: 100, height: 100 })).toEqual([])
  expect(treemap([{ bytes: 0 }], { width: 100, height: 100 })).toEqual([])
  expect(treemap([{ bytes: 1 }], { width: 0, height: 100 })).toEqual([])
})

test('C5 four equal folders are four squares', () => {
  const boxes = treemap(
    Array.from({ length: 4 }, () => ({ bytes: 1 })),
    { width: 8, height: 8 },
  )
  expect(boxes.map(({ box }) => [box.width, box.height])).toEqual(Array(4).fill([4, 4]))
})
