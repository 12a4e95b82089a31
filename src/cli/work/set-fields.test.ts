import { expect, test } from 'vitest'
import { toFields } from './set-fields.ts'

test('W12, W13, W15 given flags map to the fields of the item kind', () => {
  const flags = { title: 'T', status: 'in-progress', project: 'shop', ifRev: 2, json: true }
  expect(toFields('story', { ...flags, needs: ['a'], append: 'x' })).toEqual({
    title: 'T',
    status: 'in_progress',
    depends_on: ['a'],
    append_notes: 'x',
  })
  expect(toFields('backlog', flags)).toEqual({ summary: 'T', status: 'in_progress' })
  expect(toFields('sprint', { ...flags, carryTo: 'next', archive: true })).toEqual({
    title: 'T',
    status: 'in_progress',
    carry_to: 'next',
    archive: true,
  })
})

test('W12, W15 --clear removes a field', () => {
  expect(toFields('story', { clear: ['priority', 'estimate'], title: 'T' })).toEqual({
    title: 'T',
    priority: null,
    estimate: null,
  })
  expect(toFields('backlog', { clear: ['theme'] })).toEqual({ theme: null })
})

test('W25 a text comes from a file, is guarded by the hash of the current text, and can be cleared', () => {
  expect(toFields('backlog', { textFile: 'notes.md', ifText: 'abc' })).toEqual({
    text: 'notes.md',
    text_sha256: 'abc',
  })
  expect(toFields('backlog', { clear: ['text'] })).toEqual({ text: null })
})

test('K2 a flag that does not apply to the item is an error', () => {
  expect(() => toFields('backlog', { carryTo: 'next', estimate: 3 })).toThrow(
    'A backlog item has no --carry-to, --estimate.',
  )
  expect(() => toFields('story', { clear: ['theme'] })).toThrow('A story has no --theme.')
  expect(() => toFields('sprint', { clear: ['text'] })).toThrow('A sprint has no --text-file.')
})
