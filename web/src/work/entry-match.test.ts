import { expect, test } from 'vitest'
import { entry } from '../api/entry.fixture.ts'
import { affectsKind, changesProjects, matchesStory, matchesProject } from './entry-match.ts'

const moved = entry({ type: 'work.changed', subject: 'shop/STORY-1', data: { kind: 'story' } })
const merged = entry({ type: 'work.merged', subject: 'shop', data: { items: ['STORY-1'] } })

test('C10 only entries of the project match it', () => {
  expect(matchesProject(moved, 'shop')).toBe(true)
  expect(matchesProject(merged, 'shop')).toBe(true)
  expect(matchesProject(moved, undefined)).toBe(true)
  expect(matchesProject(moved, 'sho')).toBe(false)
  expect(matchesProject({ ...moved, subject: 'shop-2/STORY-1' }, 'shop')).toBe(false)
  // A read is recorded as a call, which must not trigger another read.
  expect(matchesProject({ ...moved, type: 'call.done' }, 'shop')).toBe(false)
})

test('C10 only queries that may have changed are refetched', () => {
  expect(affectsKind(moved, 'shop', 'story')).toBe(true)
  expect(affectsKind(moved, 'shop', 'sprint')).toBe(false)
  for (const what of ['story', 'sprint', 'backlog'] as const)
    expect(affectsKind(merged, 'shop', what)).toBe(true)
  expect(changesProjects(moved)).toBe(false)
  expect(changesProjects(merged)).toBe(true)
  expect(changesProjects(entry({ type: 'work.project_registered', subject: 'shop' }))).toBe(true)
})

test('C6 the history of STORY-1 has no entries of STORY-10', () => {
  expect(matchesStory(moved, 'shop', 'STORY-1')).toBe(true)
  expect(matchesStory(merged, 'shop', 'STORY-1')).toBe(true)
  expect(matchesStory({ ...moved, subject: 'shop/STORY-10' }, 'shop', 'STORY-1')).toBe(false)
  expect(matchesStory(merged, 'other', 'STORY-1')).toBe(false)
})
