import { expect, test } from 'vitest'
import { newHiddenId, newId, newSalt } from './ids.ts'

test('L8 every salt has 16 bytes and is unique', () => {
  const salts = Array.from({ length: 2000 }, newSalt)
  for (const salt of salts) expect(salt).toMatch(/^[0-9a-f]{32}$/)
  expect(new Set(salts).size).toBe(salts.length)
})

test('L3 an id is a UUID version 7 that starts with the time', () => {
  const before = Date.now()
  const ids = Array.from({ length: 2000 }, newId)
  const after = Date.now()
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const time = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
    expect(time).toBeGreaterThanOrEqual(before)
    expect(time).toBeLessThanOrEqual(after)
  }
})

test.each([
  ['L3', newId],
  ['T14', newHiddenId],
])('%s ids of one millisecond sort in the order in which they were made', (_, next) => {
  const ids = Array.from({ length: 2000 }, next)
  expect(ids.toSorted()).toEqual(ids)
})

test('T14 hidden ids leave no gap in the count of other ids', () => {
  const counts = (ids: string[]) => ids.map((id) => Number.parseInt(id.slice(15, 18), 16))
  const isOneMillisecond = (ids: string[]) => new Set(ids.map((id) => id.slice(0, 13))).size === 1
  let ids: string[]
  do {
    ids = Array.from({ length: 3 }, () => {
      newHiddenId()
      return newId()
    })
  } while (!isOneMillisecond(ids))
  const [first = 0] = counts(ids)
  expect(counts(ids)).toEqual([first, first + 1, first + 2])
})
