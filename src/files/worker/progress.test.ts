import { expect, test } from 'vitest'
import { createProgress } from './serve.ts'

test('SV14 progress is passed on first, then every 250 ms at most, and when all is done', () => {
  let at = 0
  const sent: unknown[] = []
  const progress = createProgress(
    (one) => sent.push(one),
    () => at,
  )
  progress(1)
  at = 100
  progress(2)
  at = 250
  progress(3, 9)
  at = 300
  progress(8, 9)
  progress(9, 9)
  expect(sent).toEqual([{ done: 1 }, { done: 3, total: 9 }, { done: 9, total: 9 }])
})
