import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { primitivesIn, unprovedIn } from '../scripts/primitives.ts'

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'governance.md'), 'utf8')
const primitives = primitivesIn(page)

test('G3 the table of primitives has 38 rows, none twice', () => {
  expect(primitives.map(({ number }) => number)).toEqual(
    Array.from({ length: 38 }, (_, i) => i + 1),
  )
  expect(new Set(primitives.map(({ name }) => name)).size).toBe(38)
})

// `npm test` asks this at its end of all tests that passed in that run.
test('G3 a primitive is proved only by a test of that name that passed', () => {
  const names = primitives.map(({ title }) => `of a group ${title.replaceAll(/%[sd]/g, 'any')}`)
  expect(unprovedIn(page, names)).toEqual([])
  expect(unprovedIn(page, names.slice(1))).toEqual([primitives[0]])
  expect(unprovedIn(page, names.with(0, `${names[0]} and more`))).toEqual([primitives[0]])
  expect(unprovedIn(page, [])).toHaveLength(38)
})
