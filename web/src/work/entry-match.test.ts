import { expect, test } from 'vitest'
import { entry } from '../api/entry.fixture.ts'
import { changes, changesProjects, isAbout, isOfProject } from './entry-match.ts'

const moved = entry({ type: 'work.changed', subject: 'shop/STORY-1', data: { kind: 'story' } })
const merged = entry({ type: 'work.merged', subject: 'shop', data: { items: ['STORY-1'] } })

test('C10 what happens in a project is known as its own, and nothing else is', () => {
  expect(isOfProject(moved, 'shop')).toBe(true)
  expect(isOfProject(merged, 'shop')).toBe(true)
  expect(isOfProject(moved, undefined)).toBe(true)
  expect(isOfProject(moved, 'sho')).toBe(false)
  expect(isOfProject({ ...moved, subject: 'shop-2/STORY-1' }, 'shop')).toBe(false)
  // Looking is recorded as a call: that may not lead to looking again.
  expect(isOfProject({ ...moved, type: 'call.done' }, 'shop')).toBe(false)
})

test('C10 only what may have changed is read again', () => {
  expect(changes(moved, 'shop', 'story')).toBe(true)
  expect(changes(moved, 'shop', 'sprint')).toBe(false)
  for (const what of ['story', 'sprint', 'backlog'] as const)
    expect(changes(merged, 'shop', what)).toBe(true)
  expect(changesProjects(moved)).toBe(false)
  expect(changesProjects(merged)).toBe(true)
  expect(changesProjects(entry({ type: 'work.project_registered', subject: 'shop' }))).toBe(true)
})

test('C6 the history of a story has what is about it, not about those whose number begins alike', () => {
  expect(isAbout(moved, 'shop', 'STORY-1')).toBe(true)
  expect(isAbout(merged, 'shop', 'STORY-1')).toBe(true)
  expect(isAbout({ ...moved, subject: 'shop/STORY-10' }, 'shop', 'STORY-1')).toBe(false)
  expect(isAbout(merged, 'other', 'STORY-1')).toBe(false)
})
