import { storyStatuses } from '../../choices.ts'
import type { StoryStatus } from '../../choices.ts'
import type { Message } from '../../inbox/state.ts'
import { plain } from '../../plain.ts'
import { titleOf, wordsOf } from '../item-lines.ts'
import type { StoryBrief } from '../wire.ts'
import { bodyRows, columnsOf, placeOf, readable, selectedStory } from './state.ts'
import type { Effect, Prompt, State, Step, Target } from './state.ts'

export const only = (state: State): Step => ({ state, effects: [] })
export const say = (state: State, text: string, tone: Message['tone'] = 'calm'): Step =>
  only({ ...state, message: { text, tone } })

/** Within a column. */
export function down(state: State, by: number): Step {
  const columns = columnsOf(state)
  const place = placeOf(columns, state.selected)
  if (!place) return only(state)
  const { stories } = columns[place.column] ?? { stories: [] }
  const row = Math.min(Math.max(place.row + by, 0), stories.length - 1)
  return only({ ...state, selected: stories[row]?.id })
}

/** To the next column on that side that has a story; as far down as the hand was. */
export function across(state: State, by: 1 | -1): Step {
  const columns = columnsOf(state)
  const place = placeOf(columns, state.selected)
  if (!place) return only(state)
  for (let at = place.column + by; columns[at]; at += by) {
    const { stories } = columns[at] ?? { stories: [] }
    if (stories.length > 0)
      return only({ ...state, selected: stories[Math.min(place.row, stories.length - 1)]?.id })
  }
  return only(state)
}

/** Something may no longer be shown: the hand then goes to what takes its place. */
export function keepingPlace(before: State, next: State): State {
  const columns = columnsOf(next)
  if (placeOf(columns, next.selected)) return next
  const was = placeOf(columnsOf(before), before.selected) ?? { column: 0, row: 0 }
  const own = columns[was.column]?.stories ?? []
  const other = columns.find(({ stories }) => stories.length > 0)?.stories[0]
  const selected = (own[Math.min(was.row, own.length - 1)] ?? other)?.id
  return { ...next, selected, scroll: 0, view: next.view === 'detail' ? 'board' : next.view }
}

export function scrolled(state: State, by: number): State {
  const most = Math.max(0, readable(state).length - bodyRows(state.size))
  return { ...state, scroll: Math.min(Math.max(state.scroll + by, 0), most) }
}

export function opened(state: State): Step {
  const id = state.selected
  if (id === undefined) return only(state)
  return { state: { ...state, view: 'detail', scroll: 0 }, effects: [{ act: 'read', id }] }
}

/** Goes on only where there is a story under the hand and nothing else is under way. */
export function onStory(state: State, act: (story: StoryBrief) => Step): Step {
  const story = selectedStory(state)
  if (!story) return say(state, 'There is no story here: a adds one.')
  return state.isBusy ? only(state) : act(story)
}

export const calling = (
  state: State,
  call: Omit<Extract<Effect, { act: 'call' }>, 'act'>,
): Step => ({
  state: { ...state, isBusy: true, prompt: undefined },
  effects: [{ act: 'call', ...call }],
})

/** What is finished goes into the history too (W16), so it is asked what to write there. */
export function put(state: State, story: StoryBrief, status: StoryStatus): Step {
  if (status === story.status) return say(state, `It is ${wordsOf(status)} already.`)
  if (status === 'done') return only({ ...state, prompt: { ask: 'done', id: story.id, text: '' } })
  return calling(state, {
    tool: 'worksync_update_story',
    args: { story_id: story.id, status, expect_rev: story.rev },
    text: `${plain(story.id)} is ${wordsOf(status)}.`,
  })
}

/** Into the column beside it. */
export function pushed(state: State, by: 1 | -1): Step {
  return onStory(state, (story) => {
    const columns = columnsOf({ ...state, filter: '' })
    const at = columns.findIndex(({ status }) => status === story.status)
    const next = columns[at + by]
    return next ? put(state, story, next.status) : say(state, 'There is no column on that side.')
  })
}

const choosing = (
  state: State,
  ask: 'move' | 'sprint' | 'project',
  options: Extract<Prompt, { at: number }>['options'],
  id?: string,
): Step =>
  only({
    ...state,
    prompt: { ask, options, at: 0, ...(id !== undefined && { id }) },
  })

/** All the ways a story can go: another column, another sprint. */
export const askMove = (state: State): Step =>
  onStory(state, (story) => {
    const toStatus = storyStatuses
      .filter((status) => status !== story.status)
      .map((status) => ({ label: wordsOf(status), to: { status } satisfies Target }))
    const toSprint = state.sprints
      .filter(({ id, status }) => id !== story.sprint_id && status !== 'completed')
      .map((sprint) => ({
        label: `sprint ${plain(sprint.id)}  ${titleOf(sprint)}`,
        to: { sprint: sprint.id } satisfies Target,
      }))
    return choosing(state, 'move', [...toStatus, ...toSprint], story.id)
  })

export function askSprint(state: State): Step {
  const options = state.sprints.map((sprint) => ({
    label: `${plain(sprint.id)}  ${titleOf(sprint)}, ${wordsOf(sprint.status)}, ${sprint.done} of ${sprint.stories} done`,
    to: { show: sprint.id },
  }))
  return options.length > 0 ? choosing(state, 'sprint', options) : say(state, 'There is no sprint.')
}

export function askProject(state: State): Step {
  const options = state.projects
    .filter((project) => project !== state.project)
    .map((project) => ({ label: plain(project), to: { project } }))
  return options.length > 0
    ? choosing(state, 'project', options)
    : say(state, 'There is no other project.')
}

/** Something else is shown: nothing of what was there before counts for it. */
export const shifted = (state: State, to: Partial<Pick<State, 'project' | 'sprint'>>): Step => ({
  state: {
    ...state,
    ...to,
    prompt: undefined,
    stories: [],
    selected: undefined,
    detail: undefined,
    isLoaded: false,
    view: 'board',
  },
  effects: [{ act: 'load' }],
})
