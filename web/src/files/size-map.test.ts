import fc from 'fast-check'
import { expect, test } from 'vitest'
import { headHeight, layoutSizeMap, fitLabels } from './size-map.ts'
import type { UsageNode } from './usage.ts'

const file = (name: string, bytes: number): UsageNode => ({
  kind: 'file',
  name,
  path: name,
  bytes,
  files: 1,
  parts: [],
})
const folder = (name: string, parts: readonly UsageNode[]): UsageNode => ({
  kind: 'folder',
  name,
  path: name,
  bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
  files: parts.length,
  parts,
})

const sizes = fc.array(fc.integer({ min: 1, max: 5_000_000 }), { minLength: 1, maxLength: 40 })
const filesOf = (each: readonly number[]) => each.map((bytes, at) => file(`f${at}`, bytes))

test('C5 the items of a folder are drawn inside its box, below its name, and none is left out', () => {
  fc.assert(
    fc.property(
      fc.array(sizes, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 300, max: 1600 }),
      (all, width) => {
        const parts = all.map((each, at) => folder(`folder${at}`, filesOf(each)))
        const drawn = layoutSizeMap(parts, { width, height: 400 })
        const total = parts.reduce((sum, { bytes }) => sum + bytes, 0)
        const tops = drawn.filter(({ level }) => level === 0)
        expect(tops.reduce((sum, { part }) => sum + part.bytes, 0)).toBe(total)
        for (const { part, box } of drawn)
          if (part.kind !== 'rest')
            expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(26)
        for (const [at, { part, box, isOpen }] of drawn.entries()) {
          if (!isOpen) continue
          const end = drawn.findIndex(({ level }, next) => next > at && level === 0)
          const inside = drawn.slice(at + 1, end === -1 ? undefined : end)
          expect(inside.reduce((sum, one) => sum + one.part.bytes, 0)).toBe(part.bytes)
          for (const { box: one } of inside) {
            expect(one.x).toBeGreaterThan(box.x)
            expect(one.y).toBeGreaterThanOrEqual(box.y + headHeight)
            expect(one.x + one.width).toBeLessThan(box.x + box.width)
            expect(one.y + one.height).toBeLessThan(box.y + box.height)
          }
        }
      },
    ),
  )
})

test('C5 only what is too small to be pressed is collected', () => {
  const drawn = layoutSizeMap(
    [file('large', 100_000), file('other', 50_000), ...filesOf([1, 2, 3])],
    {
      width: 400,
      height: 300,
    },
  )
  expect(drawn.map(({ part }) => part.name)).toEqual(['large', 'other', 'and 3 other files'])
})

test('C14 a label is whole, or ends where it still tells something, or is left out', () => {
  const box = (width: number, height: number) => ({ x: 0, y: 0, width, height })
  const shown = (width: number, height: number, name = 'quarterly-report.pdf') =>
    fitLabels(box(width, height), name, '12.4 MB', false)
  expect(shown(200, 60)).toEqual({ hasName: true, hasSize: true })
  expect(shown(200, 30)).toEqual({ hasName: true, hasSize: false })
  expect(shown(40, 60)).toEqual({ hasName: false, hasSize: false })
  expect(shown(40, 60, 'a.md').hasName).toBe(true)
  expect(shown(200, 16)).toEqual({ hasName: false, hasSize: false })
})
