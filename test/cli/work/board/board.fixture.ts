import type { SprintBrief, Story, StoryBrief } from '../../../../src/cli/work/wire.ts'
import { reduce } from '../../../../src/cli/work/board/reduce.ts'
import { initialState } from '../../../../src/cli/work/board/state.ts'
import type { Effect, Event, State } from '../../../../src/cli/work/board/state.ts'

/** Stories and keystrokes for the tests of the board. */

export const start = Date.parse('2026-03-02T10:00:00Z')

export const buildStory = (id: string, more: Partial<StoryBrief> = {}): StoryBrief => ({
  id,
  title: `Title of ${id}`,
  status: 'planned',
  sprint_id: 'auth',
  rev: 1,
  ...more,
})

export const buildSprint = (id: string, more: Partial<SprintBrief> = {}): SprintBrief => ({
  id,
  status: 'active',
  stories: 3,
  done: 1,
  rev: 1,
  ...more,
})

export const buildFullStory = (story: StoryBrief, more: Partial<Story> = {}): Story => ({
  ...story,
  notes: 'One.\nTwo.',
  acceptance: [{ text: 'it works', done: true }, { text: 'people know' }],
  needs: [{ id: 'STORY-9', status: 'planned', title: 'Before' }],
  needed_by: ['STORY-8'],
  ready: false,
  conflicts: [
    {
      id: 'c1',
      item: story.id,
      field: 'notes',
      kind: 'same_field',
      at: '',
      ours: 'a',
      theirs: 'b',
    },
  ],
  comments: [{ at: '2026-03-01T08:00:00Z', by: 'bea', text: 'Why?' }],
  history: [{ date: '2026-03-01', summary: 'begun', by: 'bea' }],
  ...more,
})

/** One in each of two columns beside a planned pair. */
export const four = [
  buildStory('STORY-1'),
  buildStory('STORY-2'),
  buildStory('STORY-3', {
    status: 'in_progress',
    claimed_by: 'bot',
    until: '2026-03-02T10:12:00Z',
  }),
  buildStory('STORY-4', { status: 'done' }),
]

export type Played = { state: State; effects: Effect[] }

export function play(state: State, ...events: Event[]): Played {
  return events.reduce<Played>(
    (before, event) => {
      const { state: next, effects } = reduce(before.state, event)
      return { state: next, effects: [...before.effects, ...effects] }
    },
    { state, effects: [] },
  )
}

export const loaded = (
  stories: readonly StoryBrief[],
  more: Partial<Extract<Event, { event: 'loaded' }>> = {},
): Event => ({
  event: 'loaded',
  project: 'shop',
  sprint: 'auth',
  sprints: [
    buildSprint('auth', { title: 'Auth rework' }),
    buildSprint('next', { status: 'planned' }),
  ],
  stories,
  isStale: false,
  ...more,
})

/** `enter` and the like by name, others as the characters they are. */
export const keys = (names: readonly string[], now = start): Event[] =>
  names.map((name) => ({
    event: 'key',
    key: { name, text: [...name].length === 1 ? name : name === 'space' ? ' ' : undefined },
    now,
  }))

export const press = (state: State, ...names: string[]): Played => play(state, ...keys(names))

export const boardWith = (
  stories: readonly StoryBrief[],
  size = { rows: 24, columns: 80 },
): State => {
  const first = { project: 'shop', projects: ['shop', 'other'], sprint: 'auth' }
  return play(initialState(size, start, first), loaded(stories)).state
}
