import { expect, test } from 'vitest'
import { newId, newSalt } from './ids.ts'

test('L8 every salt has 16 bytes and never comes twice', () => {
  const salts = Array.from({ length: 2000 }, newSalt)
  for (const salt of salts) expect(salt).toMatch(/^[0-9a-f]{32}$/)
  expect(new Set(salts).size).toBe(salts.length)
})

test('L3 an id is a UUID of version 7 that opens with the time', () => {
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

test('L3 ids of one millisecond come in the order in which they were made', () => {
  const ids = Array.from({ length: 2000 }, newId)
  expect(ids.toSorted()).toEqual(ids)
})
