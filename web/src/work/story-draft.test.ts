import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { story } from './work.fixture.ts'
import { diffDraft, toDraft, slugify } from './story-draft.ts'

const full = story({
  title: 'Workload identity',
  priority: 'high',
  estimate: 3,
  notes: 'as it was',
  depends_on: ['STORY-2', 'pin-actions'],
  acceptance: [{ text: 'pool created', done: true }, { text: 'documented' }],
  paths: ['infra/**'],
})

test('W15 an unchanged form sends nothing', () => {
  const name = fc.stringMatching(/^[a-z]{1,8}$/)
  fc.assert(
    fc.property(
      fc.record({
        title: fc.string(),
        notes: fc.string(),
        depends_on: fc.array(name),
        paths: fc.array(name),
        acceptance: fc.array(fc.record({ text: name, done: fc.boolean() })),
      }),
      (part) => {
        const draft = toDraft(story(part))
        expect(diffDraft(draft, draft, part.acceptance)).toEqual({})
      },
    ),
  )
})

test('W15 only changed fields are sent', () => {
  const before = toDraft(full)
  expect(diffDraft({ ...before, title: ' New ' }, before)).toEqual({ title: 'New' })
  expect(diffDraft({ ...before, needs: 'STORY-9;STORY-2' }, before)).toEqual({
    depends_on: ['STORY-9', 'STORY-2'],
  })
  expect(diffDraft({ ...before, estimate: '0.5', notes: '' }, before)).toEqual({
    estimate: 0.5,
    notes: '',
  })
  expect(diffDraft({ ...toDraft(), title: 'x', priority: 'low' }, toDraft())).toEqual({
    title: 'x',
    priority: 'low',
  })
})

test('W15 a cleared priority or estimate is sent as null', () => {
  const before = toDraft(full)
  expect(diffDraft({ ...before, priority: '', estimate: ' ' }, before)).toEqual({
    priority: null,
    estimate: null,
  })
})

test('W15 unchanged criteria keep their check mark, new ones have none', () => {
  const before = toDraft(full)
  const draft = { ...before, acceptance: 'documented\n\n pool created \nrotated' }
  expect(diffDraft(draft, before, full.acceptance)).toEqual({
    acceptance: [{ text: 'documented' }, { text: 'pool created', done: true }, { text: 'rotated' }],
  })
})

test('W14 slugify returns valid ids', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 100 }), (words) => {
      expect(slugify(words)).toMatch(/^([a-z0-9]+(-[a-z0-9]+)*)?$/)
    }),
  )
  expect(slugify('Sprint 3: Überall')).toBe('sprint-3-uberall')
})
