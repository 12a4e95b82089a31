import type { Card, Conflict, Sprint, Story } from './work.ts'

/** Items as the tools return them, with overrides. */
export const card = (part: Partial<Card> = {}): Card => ({
  id: 'STORY-1',
  status: 'planned',
  sprint_id: 'one',
  rev: 1,
  ...part,
})

export const sprint = (part: Partial<Sprint> = {}): Sprint => ({
  id: 'one',
  status: 'active',
  rev: 1,
  ...part,
})

export const story = (part: Partial<Story> = {}): Story => ({
  id: 'STORY-1',
  status: 'planned',
  sprint_id: 'one',
  rev: 1,
  needs: [],
  needed_by: [],
  ready: true,
  conflicts: [],
  ...part,
})

export const conflict = (part: Partial<Conflict> = {}): Conflict => ({
  id: 'conflict-1',
  item: 'STORY-1',
  field: 'title',
  kind: 'same_field',
  at: '2026-11-15T12:00:00.000Z',
  ...part,
})
