import { expect, test } from 'vitest'
import { withoutStory, parseWorkView } from './view.ts'

test('C1 the address is the state, and what it cannot mean is left out', () => {
  const view = { project: 'shop', sprint: 'one', story: 'STORY-1', q: 'pool' }
  expect(parseWorkView(view)).toEqual(view)
  expect(parseWorkView({ project: ' ', sprint: 3, q: 'x'.repeat(300), other: 'y' })).toEqual({
    q: 'x'.repeat(200),
  })
  expect(withoutStory(view)).toEqual({ project: 'shop', sprint: 'one', q: 'pool' })
})
