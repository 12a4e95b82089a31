import { expect, test } from 'vitest'
import { withoutStory, parseWorkView } from './view.ts'

test('C1 the URL holds the view state, and invalid values are dropped', () => {
  const view = { project: 'shop', sprint: 'one', story: 'STORY-1', q: 'pool' }
  expect(parseWorkView(view)).toEqual(view)
  expect(parseWorkView({ project: ' ', sprint: 3, q: 'x'.repeat(300), other: 'y' })).toEqual({
    q: 'x'.repeat(200),
  })
  expect(withoutStory(view)).toEqual({ project: 'shop', sprint: 'one', q: 'pool' })
})
