import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { paginateItem } from '../../../src/work/paging.ts'
import { mergeParts } from './text-part.ts'

const parted = (item: Record<string, unknown>) => {
  const parts: Record<string, unknown>[] = []
  for (let cursor: string | undefined; ;) {
    const { part, next_cursor: next } = paginateItem(item, { cursor })
    parts.push(part)
    if (next === undefined) return parts
    cursor = next
  }
}

test('W23 the parts of a story merge to the original', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.nat({ max: 60_000 }).map((length) => 'word '.repeat(length / 5)),
  )
  fc.assert(
    fc.property(
      fc.record({
        id: fc.constant('STORY-1'),
        rev: fc.nat(),
        ready: fc.boolean(),
        notes: text,
        depends_on: fc.uniqueArray(fc.string({ minLength: 1 })),
        comments: fc
          .array(text, { maxLength: 6 })
          .map((texts) => texts.map((words, at) => ({ at, text: words.slice(0, 10_000) }))),
      }),
      (item) => {
        expect(mergeParts(parted(item))).toEqual(item)
      },
    ),
    { numRuns: 60 },
  )
  const long = { id: 'STORY-1', notes: 'x'.repeat(50_000) }
  expect(parted(long).length).toBeGreaterThan(1)
})
