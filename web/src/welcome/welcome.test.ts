import { expect, test } from 'vitest'
import { isDefault, stepAfter, steps, welcomeViewOf, workspaceIn } from './welcome.ts'

test('C1 C9 an unknown step is the first one', () => {
  expect(welcomeViewOf({ step: 'folders' })).toEqual({ step: 'folders' })
  expect(welcomeViewOf({ step: 'nonsense' })).toEqual({})
  expect(welcomeViewOf({ step: 'workspace' })).toEqual({})
})

test('C9 each step leads to the next, and the last one out', () => {
  const ids = steps.map(({ id }) => id)
  expect(ids.map(stepAfter)).toEqual([...ids.slice(1), undefined])
})

test('C9 a folder with something in it does not become the workspace', () => {
  expect(workspaceIn('/home/mara/Documents', false)).toBe('/home/mara/Documents/AI-Workspace')
  expect(workspaceIn('/home/mara/AI', true)).toBe('/home/mara/AI')
  expect(workspaceIn('/data/AI-Workspace', false)).toBe('/data/AI-Workspace')
})

test('C9 the default is known in every home', () => {
  expect(isDefault('/home/mara/Downloads/AI-Workspace')).toBe(true)
  expect(isDefault('/Users/mara/Downloads/AI-Workspace/')).toBe(true)
  expect(isDefault('/home/mara/Downloads/AI-Workspace-2')).toBe(false)
})
