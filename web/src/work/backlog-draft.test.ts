import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { backlogChanges, backlogDraft } from './backlog-draft.ts'
import type { BacklogWhole } from './work.ts'

const whole: BacklogWhole = {
  id: 'later',
  summary: 'Later',
  status: 'todo',
  theme: 'ops',
  priority: 'high',
  text: 'one\r\ntwo\r\n',
  text_sha256: 'abc',
  rev: 3,
}

test('W12 W25 an unchanged form sends nothing', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.option(fc.string()), (summary, text, theme) => {
      const item = { ...whole, summary, text, theme }
      expect(backlogChanges(backlogDraft(item), backlogDraft(item), item)).toEqual({})
    }),
  )
})

test('W12 only changed fields are sent, cleared ones as null', () => {
  const from = backlogDraft(whole)
  expect(backlogChanges({ ...from, summary: ' Now ' }, from, whole)).toEqual({ summary: 'Now' })
  expect(backlogChanges({ ...from, theme: ' ', priority: '' }, from, whole)).toEqual({
    theme: null,
    priority: null,
  })
  const empty = backlogDraft()
  expect(backlogChanges({ ...empty, summary: 'x', text: 'y' }, empty)).toEqual({
    summary: 'x',
    text: 'y',
  })
})

test('W25 a text is sent with the hash of the replaced text and its line endings', () => {
  const from = backlogDraft(whole)
  const sent = (text: string, before: BacklogWhole = whole) =>
    backlogChanges({ ...from, text }, backlogDraft(before), before)
  expect(sent('one\ntwo\nthree\n')).toEqual({ text: 'one\r\ntwo\r\nthree\r\n', text_sha256: 'abc' })
  expect(sent('')).toEqual({ text: '', text_sha256: 'abc' })
  const mixed = { ...whole, text: 'one\r\ntwo\n' }
  expect(sent('one\ntwo\nx', mixed)).toEqual({ text: 'one\ntwo\nx', text_sha256: 'abc' })
})
