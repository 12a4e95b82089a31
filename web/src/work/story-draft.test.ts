import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { story } from './work.fixture.ts'
import { changesOf, draftOf, idOf } from './story-draft.ts'

const full = story({
  title: 'Workload identity',
  priority: 'high',
  estimate: 3,
  notes: 'as it was',
  depends_on: ['STORY-2', 'pin-actions'],
  acceptance: [{ text: 'pool created', done: true }, { text: 'documented' }],
  paths: ['infra/**'],
})

test('W15 a form that nobody touched sends nothing', () => {
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
        const draft = draftOf(story(part))
        expect(changesOf(draft, draft, part.acceptance)).toEqual({})
      },
    ),
  )
})

test('W15 only what was changed is sent', () => {
  const before = draftOf(full)
  expect(changesOf({ ...before, title: ' New ' }, before)).toEqual({ title: 'New' })
  expect(changesOf({ ...before, needs: 'STORY-9;STORY-2' }, before)).toEqual({
    depends_on: ['STORY-9', 'STORY-2'],
  })
  expect(changesOf({ ...before, estimate: '0.5', notes: '' }, before)).toEqual({
    estimate: 0.5,
    notes: '',
  })
  expect(changesOf({ ...draftOf(), title: 'x', priority: 'low' }, draftOf())).toEqual({
    title: 'x',
    priority: 'low',
  })
})

test('W15 a priority or an estimate that is taken away is sent as null', () => {
  const before = draftOf(full)
  expect(changesOf({ ...before, priority: '', estimate: ' ' }, before)).toEqual({
    priority: null,
    estimate: null,
  })
})

test('W15 criteria that stay keep their tick, new ones have none', () => {
  const before = draftOf(full)
  const draft = { ...before, acceptance: 'documented\n\n pool created \nrotated' }
  expect(changesOf(draft, before, full.acceptance)).toEqual({
    acceptance: [{ text: 'documented' }, { text: 'pool created', done: true }, { text: 'rotated' }],
  })
})

test('W14 ids made of words are ids', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 100 }), (words) => {
      expect(idOf(words)).toMatch(/^([a-z0-9]+(-[a-z0-9]+)*)?$/)
    }),
  )
  expect(idOf('Sprint 3: Überall')).toBe('sprint-3-uberall')
})
