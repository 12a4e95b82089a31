import { expect, test } from 'vitest'
import { createProgress } from './serve.ts'

test('SV14 sends the first progress update, then at most one per 250 ms, and the last', () => {
  let time = 0
  const sent: unknown[] = []
  const progress = createProgress(
    (update) => sent.push(update),
    () => time,
  )
  progress(1)
  time = 100
  progress(2)
  time = 250
  progress(3, 9)
  time = 300
  progress(8, 9)
  progress(9, 9)
  expect(sent).toEqual([{ done: 1 }, { done: 3, total: 9 }, { done: 9, total: 9 }])
})
