import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listPrimitives, findUnproved } from '../scripts/primitives.ts'

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'governance.md'), 'utf8')
const primitives = listPrimitives(page)

test('G3 the table of primitives has 38 unique rows', () => {
  expect(primitives.map(({ number }) => number)).toEqual(
    Array.from({ length: 38 }, (_, i) => i + 1),
  )
  expect(new Set(primitives.map(({ name }) => name)).size).toBe(38)
})

// `npm test` checks this for all passed tests at its end.
test('G3 only a passed test of that name proves a primitive', () => {
  const names = primitives.map(({ title }) => `of a group ${title.replaceAll(/%[sd]/g, 'any')}`)
  expect(findUnproved(page, names)).toEqual([])
  expect(findUnproved(page, names.slice(1))).toEqual([primitives[0]])
  expect(findUnproved(page, names.with(0, `${names[0]} and more`))).toEqual([primitives[0]])
  expect(findUnproved(page, [])).toHaveLength(38)
})
