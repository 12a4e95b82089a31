import { expect, test } from 'vitest'
import { withoutStory, workViewOf } from './view.ts'

test('C1 the address is the state, and what it cannot mean is left out', () => {
  const view = { project: 'shop', sprint: 'one', story: 'STORY-1', q: 'pool' }
  expect(workViewOf(view)).toEqual(view)
  expect(workViewOf({ project: ' ', sprint: 3, q: 'x'.repeat(300), other: 'y' })).toEqual({
    q: 'x'.repeat(200),
  })
  expect(withoutStory(view)).toEqual({ project: 'shop', sprint: 'one', q: 'pool' })
})
