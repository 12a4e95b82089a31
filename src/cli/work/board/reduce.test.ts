import { describe, expect, test } from 'vitest'
import {
  boardWith,
  four,
  loaded,
  play,
  press,
  buildSprint,
  start,
  buildStory,
  buildFullStory,
} from '../../../../test/cli/work/board/board.fixture.ts'
import { defaultSprint } from './state.ts'
import type { Effect, State } from './state.ts'

const calls = (effects: readonly Effect[]) => effects.filter(({ act }) => act === 'call')
const typed = (text: string): string[] =>
  Array.from(text, (char) => (char === ' ' ? 'space' : char))
const cursorParam = (state: State, ...names: string[]) => press(state, ...names).state.selected

describe('navigation', () => {
  test('C6 j and k stay in a column, h and l go to the next non-empty column', () => {
    const state = boardWith(four)
    expect([
      cursorParam(state),
      cursorParam(state, 'j'),
      cursorParam(state, 'j', 'j'),
      cursorParam(state, 'j', 'k', 'k'),
    ]).toEqual(['STORY-1', 'STORY-2', 'STORY-2', 'STORY-1'])
    expect([
      cursorParam(state, 'l'),
      cursorParam(state, 'l', 'l'),
      cursorParam(state, 'l', 'l', 'l'),
    ]).toEqual(['STORY-3', 'STORY-4', 'STORY-4'])
    expect(cursorParam(state, 'j', 'l', 'h')).toBe('STORY-1')
  })

  test('C6 a story moved by others stays selected', () => {
    const state = press(boardWith(four), 'j').state
    const moved = four.map((story) =>
      story.id === 'STORY-2' ? { ...story, status: 'in_review' as const, rev: 2 } : story,
    )
    expect(play(state, loaded(moved)).state.selected).toBe('STORY-2')
  })

  test('C6 if the selected story disappears, the story at its position is selected', () => {
    const state = press(boardWith(four), 'enter').state
    const { state: after } = play(state, loaded(four.slice(1)))
    expect(after).toMatchObject({ selected: 'STORY-2', view: 'board' })
    expect(play(after, loaded([])).state.selected).toBeUndefined()
  })

  test('C6 a filter applies to every column, and Esc clears it', () => {
    const { state } = press(boardWith(four), '/', ...typed('story-3'), 'enter')
    expect(state).toMatchObject({ filter: 'story-3', selected: 'STORY-3' })
    expect(press(state, 'escape').state.filter).toBe('')
  })

  test('C6 the loaded board of another project or sprint is ignored', () => {
    const state = boardWith(four)
    const late = play(state, loaded([], { project: 'other' })).state
    expect(late.stories).toEqual(four)
    const { state: asked, effects } = press(state, 's', 'j', 'enter')
    expect(asked).toMatchObject({ sprint: 'next', stories: [], isLoaded: false })
    expect(effects).toEqual([{ act: 'load' }])
    expect(press(state, 'p', 'enter').state).toMatchObject({ project: 'other', sprint: undefined })
  })

  test('C6 the board starts with the active sprint', () => {
    const [old, now, next] = [
      buildSprint('old', { status: 'completed' }),
      buildSprint('now'),
      buildSprint('next', { status: 'planned' }),
    ]
    expect(defaultSprint([old, next, now])).toBe('now')
    expect(defaultSprint([old, next])).toBe('next')
    expect(defaultSprint([old])).toBe('old')
    expect(defaultSprint([])).toBeUndefined()
  })
})

describe('changes', () => {
  test('W15, W22 > moves a story to the next column with the shown revision', () => {
    const { state, effects } = press(boardWith(four), '>')
    expect(calls(effects)).toMatchObject([
      {
        tool: 'worksync_update_story',
        args: { story_id: 'STORY-1', status: 'in_progress', expect_rev: 1 },
      },
    ])
    expect(state.isBusy).toBe(true)
    expect(calls(press(state, '>', 'c', 'd').effects)).toEqual([])
    expect(press(boardWith(four), '<').state.message?.text).toContain('No column')
  })

  test('W16 every way to finish a story asks for the history entry', () => {
    const review = [buildStory('STORY-1', { status: 'in_review' })]
    for (const way of [['>'], ['d'], ['m', '4']]) {
      const { state: asked, effects } = press(boardWith(review), ...way)
      expect(asked.prompt).toEqual({ ask: 'done', id: 'STORY-1', text: '' })
      expect(calls(effects)).toEqual([])
    }
    const { state } = press(boardWith(review), 'd')
    expect(calls(press(state, ...typed('all good'), 'enter').effects)).toMatchObject([
      { tool: 'worksync_done', args: { story_id: 'STORY-1', summary: 'all good' } },
    ])
    const plainly = calls(press(state, 'enter').effects)
    expect(plainly).toMatchObject([{ tool: 'worksync_done', args: { story_id: 'STORY-1' } }])
    expect(JSON.stringify(plainly)).not.toContain('summary')
    expect(calls(press(state, 'escape').effects)).toEqual([])
  })

  test('C6, W20 m offers the other columns and the open sprints', () => {
    const sprints = [
      buildSprint('auth'),
      buildSprint('next'),
      buildSprint('old', { status: 'completed' }),
    ]
    const state = play(boardWith(four), loaded(four, { sprints })).state
    const { prompt } = press(state, 'm').state
    const labels = prompt && 'options' in prompt ? prompt.options.map(({ label }) => label) : []
    expect(labels.slice(0, 5)).toEqual(['in progress', 'blocked', 'in review', 'done', 'dropped'])
    expect(labels.slice(5).join()).toContain('next')
    expect(labels.slice(5)).toHaveLength(1)
    expect(calls(press(state, 'm', '2').effects)).toMatchObject([
      { args: { story_id: 'STORY-1', status: 'blocked' } },
    ])
    expect(calls(press(state, 'm', 'k', 'enter').effects)).toMatchObject([
      { tool: 'worksync_move', args: { story_id: 'STORY-1', sprint_id: 'next', expect_rev: 1 } },
    ])
  })

  test('W20 c claims, C releases', () => {
    const made = calls([
      ...press(boardWith(four), 'c').effects,
      ...press(boardWith(four), 'C').effects,
    ])
    expect(made).toMatchObject([{ tool: 'worksync_claim' }, { tool: 'worksync_release' }])
  })

  test('W14, C6 a adds a story to the shown sprint and selects it', () => {
    const { state, effects } = press(boardWith(four), 'a', ...typed('New one'), 'enter')
    expect(calls(effects)).toMatchObject([
      { tool: 'worksync_add_story', args: { sprint_id: 'auth', title: 'New one' } },
    ])
    const changed = { event: 'changed', text: 'ok', id: 'STORY-5' } as const
    const after = play(state, changed, loaded([...four, buildStory('STORY-5')]))
    expect(after.state).toMatchObject({ selected: 'STORY-5', isBusy: false })
    expect(after.effects).toEqual([{ act: 'load' }])
    expect(calls(press(boardWith(four), 'a', 'space', 'enter').effects)).toEqual([])
  })

  test('C6 t comments on a story', () => {
    expect(calls(press(boardWith(four), 't', ...typed('hm'), 'enter').effects)).toMatchObject([
      { tool: 'worksync_comment', args: { story_id: 'STORY-1', text: 'hm' } },
    ])
  })

  test('C6 a refusal is shown, and the board is reloaded', () => {
    const busy = press(boardWith(four), 'c').state
    const message = { text: 'STORY-1 is claimed by bot.', tone: 'bad' } as const
    const { state, effects } = play(busy, { event: 'message', message })
    expect(state).toMatchObject({ isBusy: false, message })
    expect(effects).toEqual([{ act: 'load' }])
  })

  test('C6 keys do nothing without a story, and pasted text is never a command', () => {
    const empty = boardWith([])
    expect(calls(press(empty, '>', 'd', 'c', 'm').effects)).toEqual([])
    const pasted = press(boardWith(four), 'paste-start', '>', 'c', 'q', 'paste-end')
    expect(pasted.effects).toEqual([])
  })
})

describe('detail view', () => {
  test('C6 Enter opens a story, Esc closes it, and a changed story is reloaded', () => {
    const { state, effects } = press(boardWith(four), 'enter')
    expect(effects).toEqual([{ act: 'read', id: 'STORY-1' }])
    const [first = buildStory('x'), ...rest] = four
    const read = play(state, { event: 'read', story: buildFullStory(first) }).state
    expect(play(read, loaded(four)).effects).toEqual([])
    expect(play(read, loaded([{ ...first, rev: 2 }, ...rest])).effects).toEqual([
      { act: 'read', id: 'STORY-1' },
    ])
    expect(press(read, 'escape').state.view).toBe('board')
  })

  test('C6 the board polls every second, and q or Ctrl-C quits', () => {
    const state = boardWith(four)
    expect(play(state, { event: 'tick', now: start }).effects).toEqual([{ act: 'look' }])
    expect(press(state, 'q').effects).toEqual([{ act: 'leave', isInterrupted: false }])
    expect(press(state, 'a', 'ctrl-c').effects).toEqual([{ act: 'leave', isInterrupted: true }])
  })
})
