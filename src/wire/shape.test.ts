import { expect, test } from 'vitest'
import * as z from 'zod'
import { buildShapes, toShape } from './build-shapes.ts'
import { routeAnswers, toolResults } from './registry.ts'
import { findMismatch } from './shape.ts'

const shape = toShape(
  z.strictObject({
    id: z.string(),
    count: z.int().nullable(),
    status: z.enum(['open', 'closed']).optional(),
    items: z.array(z.object({ done: z.literal(true) })),
    by_name: z.record(z.string(), z.number()),
    content: z.json(),
    more: z.unknown().optional(),
  }),
)
const value = {
  id: 'a',
  count: null,
  items: [{ done: true }],
  by_name: { one: 1 },
  content: { any: [1, null] },
}

test('architecture: a valid value matches, also with unknown fields', () => {
  expect(findMismatch(shape, value)).toBeUndefined()
  expect(findMismatch(shape, { ...value, count: 2, status: 'open', later: [] })).toBeUndefined()
})

test.each([
  [{ id: 1 }, 'id: expected string'],
  [{ count: '1' }, 'count: expected number'],
  [{ status: 'gone' }, 'status: expected one of open, closed'],
  [{ status: null }, 'status: expected one of open, closed'],
  [{ items: {} }, 'items: expected a list'],
  [{ items: [{ done: true }, {}] }, 'items.1.done: is missing'],
  [{ items: [null] }, 'items.0: expected an object'],
  [{ by_name: { one: '1' } }, 'by_name.one: expected number'],
  [{ by_name: [] }, 'by_name: expected an object'],
])('architecture: the mismatch of %j is %s', (wrong, message) => {
  expect(findMismatch(shape, { ...value, ...wrong })).toBe(message)
})

test('architecture: a value other than an object is a mismatch', () => {
  expect(findMismatch(shape, 'text')).toBe('answer: expected an object')
})

test('architecture: the console has a non-empty shape for each schema of the registry', () => {
  const { tools, routes } = buildShapes()
  expect(Object.keys(tools)).toEqual(Object.keys(toolResults))
  expect(Object.keys(routes)).toEqual(Object.keys(routeAnswers))
  const empty = Object.entries({ ...tools, ...routes }).filter(([, one]) => one === 'any')
  expect(empty.map(([name]) => name)).toEqual(['cowork_use'])
})
