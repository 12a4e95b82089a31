import { storyStatuses } from '../../choices.ts'
import type { StoryStatus } from '../../choices.ts'
import { plain } from '../../output.ts'
import {
  choose,
  moving,
  only,
  opened,
  pressed,
  reading,
  say,
  scrollTo,
  typed,
} from '../../screen/keys.ts'
import type { Key } from '../../screen/keys.ts'
import { titleOf, wordsOf } from '../item-lines.ts'
import type { StoryBrief } from '../wire.ts'
import { bodyRows, columnsOf, placeOf, readable, selectedStory, storiesInColumn } from './state.ts'
import type { Effect, Event, Prompt, State, Step, Target } from './state.ts'

function down(state: State, by: number): Step {
  const columns = columnsOf(state)
  const place = placeOf(columns, state.selected)
  if (!place) return only(state)
  const { stories } = columns[place.column] ?? { stories: [] }
  const row = Math.min(Math.max(place.row + by, 0), stories.length - 1)
  return only({ ...state, selected: stories[row]?.id })
}

/** To the next column on that side that has a story; as far down as the hand was. */
function across(state: State, by: 1 | -1): Step {
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
function keepingPlace(before: State, next: State): State {
  const columns = columnsOf(next)
  if (placeOf(columns, next.selected)) return next
  const was = placeOf(columnsOf(before), before.selected) ?? { column: 0, row: 0 }
  const own = columns[was.column]?.stories ?? []
  const other = columns.find(({ stories }) => stories.length > 0)?.stories[0]
  const selected = (own[Math.min(was.row, own.length - 1)] ?? other)?.id
  return { ...next, selected, scroll: 0, view: next.view === 'detail' ? 'board' : next.view }
}

const scrolled = (state: State, by: number): State =>
  scrollTo(state, state.scroll + by, readable(state).length - bodyRows(state.size))

/** Goes on only where there is a story under the hand and nothing else is under way. */
function onStory(state: State, act: (story: StoryBrief) => Step): Step {
  const story = selectedStory(state)
  if (!story) return say(state, 'There is no story here: a adds one.')
  return state.isBusy ? only(state) : act(story)
}

const calling = (state: State, call: Omit<Extract<Effect, { act: 'call' }>, 'act'>): Step => ({
  state: { ...state, isBusy: true, prompt: undefined },
  effects: [{ act: 'call', ...call }],
})

/** What is finished goes into the history too (W16), so it is asked what to write there. */
function put(state: State, story: StoryBrief, status: StoryStatus): Step {
  if (status === story.status) return say(state, `It is ${wordsOf(status)} already.`)
  if (status === 'done') return only({ ...state, prompt: { ask: 'done', id: story.id, text: '' } })
  return calling(state, {
    tool: 'worksync_update_story',
    args: { story_id: story.id, status, expect_rev: story.rev },
    text: `${plain(story.id)} is ${wordsOf(status)}.`,
  })
}

function pushed(state: State, by: 1 | -1): Step {
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

const askMove = (state: State): Step =>
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

function askSprint(state: State): Step {
  const options = state.sprints.map((sprint) => ({
    label: `${plain(sprint.id)}  ${titleOf(sprint)}, ${wordsOf(sprint.status)}, ${sprint.done} of ${sprint.stories} done`,
    to: { show: sprint.id },
  }))
  return options.length > 0 ? choosing(state, 'sprint', options) : say(state, 'There is no sprint.')
}

function askProject(state: State): Step {
  const options = state.projects
    .filter((project) => project !== state.project)
    .map((project) => ({ label: plain(project), to: { project } }))
  return options.length > 0
    ? choosing(state, 'project', options)
    : say(state, 'There is no other project.')
}

/** Something else is shown: nothing of what was there before counts for it. */
const shifted = (state: State, to: Partial<Pick<State, 'project' | 'sprint'>>): Step => ({
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

export type Choosing = Extract<Prompt, { at: number }>
type Writing = Exclude<Prompt, Choosing>

export const isChoosing = (prompt: Prompt | undefined): prompt is Choosing =>
  prompt !== undefined && 'at' in prompt

function answered(state: State, prompt: Prompt, key: Key): Step {
  if (key.name === 'escape')
    return say({ ...state, prompt: undefined }, isLook(prompt) ? '' : 'Nothing was changed.')
  if (!isChoosing(prompt)) return written(state, prompt, key)
  return state.isPasting ? only(state) : chosen(state, prompt, key)
}

/** It only asks what to show. */
const isLook = ({ ask }: Prompt) => ask === 'filter' || ask === 'sprint' || ask === 'project'

function chosen(state: State, prompt: Choosing, key: Key): Step {
  const next = choose(prompt.at, prompt.options, key)
  if (next && 'at' in next) return only({ ...state, prompt: { ...prompt, at: next.at } })
  const option = next && prompt.options[next.taken]
  return option ? picking({ ...state, prompt: undefined }, prompt, option.to) : only(state)
}

function picking(state: State, { id }: Choosing, to: Choosing['options'][number]['to']): Step {
  if ('show' in to) return shifted(state, { sprint: to.show })
  if ('project' in to) return shifted(state, { project: to.project, sprint: undefined })
  const story = state.stories.find((one) => one.id === id)
  if (!story) return say(state, 'That story is not here any more.')
  if ('status' in to) return put(state, story, to.status)
  return calling(state, {
    tool: 'worksync_move',
    args: { story_id: story.id, sprint_id: to.sprint, expect_rev: story.rev },
    text: `${plain(story.id)} is in ${plain(to.sprint)}.`,
  })
}

const longest = 500

function written(state: State, prompt: Writing, key: Key): Step {
  if (key.name === 'enter' && !state.isPasting) return finished(state, prompt, prompt.text.trim())
  return only({
    ...state,
    prompt: { ...prompt, text: typed(prompt.text, key, ' ').slice(0, longest) },
  })
}

function finished(state: State, prompt: Writing, text: string): Step {
  const next: State = { ...state, prompt: undefined }
  switch (prompt.ask) {
    case 'filter':
      return only(keepingPlace(state, { ...next, filter: text }))
    case 'title':
      if (text === '' || state.sprint === undefined) return say(next, 'Nothing was added.')
      return calling(next, {
        tool: 'worksync_add_story',
        args: { sprint_id: state.sprint, title: text },
        text: 'The story is there.',
      })
    case 'comment':
      if (text === '') return say(next, 'Nothing was said.')
      return calling(next, {
        tool: 'worksync_comment',
        args: { story_id: prompt.id, text },
        text: `You said it about ${plain(prompt.id)}.`,
      })
    case 'done':
      return calling(next, {
        tool: 'worksync_done',
        args: { story_id: prompt.id, ...(text !== '' && { summary: text }) },
        text: `${plain(prompt.id)} is done.`,
      })
  }
}

/** The board as a pure machine: what happened in, the next state and what is to be done out. */
export function reduce(state: State, event: Event): Step {
  switch (event.event) {
    case 'key':
      return pressed({ ...state, now: event.now }, event.key, keys)
    case 'tick':
      return { state: { ...state, now: event.now }, effects: [{ act: 'look' }] }
    case 'resized':
      return only(scrolled({ ...state, size: event.size }, 0))
    case 'loaded':
      return event.project === state.project ? loaded(state, event) : only(state)
    case 'unreachable':
      return only({ ...state, offline: event.message })
    case 'read':
      return only({ ...state, detail: event.story })
    case 'changed': {
      const selected = event.id ?? state.selected
      const message = { text: event.text, tone: 'good' } as const
      return { state: { ...state, isBusy: false, selected, message }, effects: [{ act: 'load' }] }
    }
    case 'told':
      // What was refused may be so because the board is old.
      return {
        state: { ...state, isBusy: false, message: event.message },
        effects: event.message.tone === 'bad' ? [{ act: 'load' }] : [],
      }
  }
}

type Keys = Readonly<Record<string, (state: State) => Step>>

const claim = (state: State) =>
  onStory(state, ({ id }) =>
    calling(state, {
      tool: 'worksync_claim',
      args: { story_id: id },
      text: `${plain(id)} is yours.`,
    }),
  )

const release = (state: State) =>
  onStory(state, ({ id }) =>
    calling(state, {
      tool: 'worksync_release',
      args: { story_id: id },
      text: `${plain(id)} is nobody's.`,
    }),
  )

const inBoth: Keys = {
  '>': (state) => pushed(state, 1),
  '<': (state) => pushed(state, -1),
  L: (state) => pushed(state, 1),
  H: (state) => pushed(state, -1),
  m: askMove,
  d: (state) => onStory(state, (story) => put(state, story, 'done')),
  c: claim,
  C: release,
  t: (state) =>
    onStory(state, ({ id }) => only({ ...state, prompt: { ask: 'comment', id, text: '' } })),
  '?': (state) => only({ ...state, view: 'help' }),
}

const inBoard: Keys = {
  ...inBoth,
  ...moving(down, ({ size }) => storiesInColumn(size)),
  l: (state) => across(state, 1),
  right: (state) => across(state, 1),
  h: (state) => across(state, -1),
  left: (state) => across(state, -1),
  enter: opened,
  a: (state) =>
    state.sprint === undefined
      ? say(state, 'There is no sprint yet: `cowork work sprint <id>` creates one.')
      : only({ ...state, prompt: { ask: 'title', text: '' } }),
  s: askSprint,
  p: askProject,
  r: (state) => ({ state, effects: [{ act: 'load' }] }),
  '/': (state) => only({ ...state, prompt: { ask: 'filter', text: state.filter } }),
  escape: (state) => only(keepingPlace(state, { ...state, filter: '' })),
  q: (state) => ({ state, effects: [{ act: 'leave', isInterrupted: false }] }),
}

const back = (state: State): Step => only({ ...state, view: 'board' })

const inDetail: Keys = {
  ...inBoth,
  ...reading(scrolled, ({ size }) => bodyRows(size) - 1, back),
}

const keys = { answered, first: inBoard, detail: inDetail, back }

function loaded(state: State, event: Extract<Event, { event: 'loaded' }>): Step {
  const { sprint, sprints, stories, isStale } = event
  const known = { ...state, sprint, sprints, stories, isStale, isLoaded: true, offline: undefined }
  const next = keepingPlace(state, known)
  const story = selectedStory(next)
  const isOld = next.view === 'detail' && story && next.detail?.rev !== story.rev
  return { state: next, effects: isOld ? [{ act: 'read', id: story.id }] : [] }
}
