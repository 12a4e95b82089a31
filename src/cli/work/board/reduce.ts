import { storyStatuses } from '../../choices.ts'
import type { StoryStatus } from '../../choices.ts'
import { sanitize } from '../../output.ts'
import {
  applyChoiceKey,
  navigationKeys,
  noEffects,
  openSelected,
  handleKey,
  readerKeys,
  showMessage,
  scrollTo,
  applyTextKey,
} from '../../screen/keys.ts'
import type { Key } from '../../screen/keys.ts'
import { formatTitle, formatWorkStatus } from '../item-lines.ts'
import type { StoryBrief } from '../wire.ts'
import {
  bodyRows,
  buildColumns,
  findPosition,
  readerLines,
  selectedStory,
  storiesInColumn,
} from './state.ts'
import type { Effect, Event, Prompt, State, Step, Target } from './state.ts'

function moveWithinColumn(state: State, by: number): Step {
  const columns = buildColumns(state)
  const position = findPosition(columns, state.selected)
  if (!position) return noEffects(state)
  const { stories } = columns[position.column] ?? { stories: [] }
  const row = Math.min(Math.max(position.row + by, 0), stories.length - 1)
  return noEffects({ ...state, selected: stories[row]?.id })
}

/** Moves to the next non-empty column on that side, in the same row. */
function moveAcrossColumns(state: State, by: 1 | -1): Step {
  const columns = buildColumns(state)
  const position = findPosition(columns, state.selected)
  if (!position) return noEffects(state)
  for (let at = position.column + by; columns[at]; at += by) {
    const { stories } = columns[at] ?? { stories: [] }
    if (stories.length > 0)
      return noEffects({
        ...state,
        selected: stories[Math.min(position.row, stories.length - 1)]?.id,
      })
  }
  return noEffects(state)
}

/** Keeps the selection; if the story is hidden, selects the one at its position. */
function keepSelection(before: State, next: State): State {
  const columns = buildColumns(next)
  if (findPosition(columns, next.selected)) return next
  const oldPosition = findPosition(buildColumns(before), before.selected) ?? { column: 0, row: 0 }
  const columnStories = columns[oldPosition.column]?.stories ?? []
  const other = columns.find(({ stories }) => stories.length > 0)?.stories[0]
  const selected = (columnStories[Math.min(oldPosition.row, columnStories.length - 1)] ?? other)?.id
  return { ...next, selected, scroll: 0, view: next.view === 'detail' ? 'board' : next.view }
}

const scrollBy = (state: State, by: number): State =>
  scrollTo(state, state.scroll + by, readerLines(state).length - bodyRows(state.size))

/** Runs the action only if a story is selected and no call is running. */
function onStory(state: State, act: (story: StoryBrief) => Step): Step {
  const story = selectedStory(state)
  if (!story) return showMessage(state, 'No story selected. Press a to add one.')
  return state.isBusy ? noEffects(state) : act(story)
}

const callTool = (state: State, call: Omit<Extract<Effect, { act: 'call' }>, 'act'>): Step => ({
  state: { ...state, isBusy: true, prompt: undefined },
  effects: [{ act: 'call', ...call }],
})

/** Sets the status. Finishing a story asks for the history entry (W16). */
function setStatus(state: State, story: StoryBrief, status: StoryStatus): Step {
  if (status === story.status) return showMessage(state, `Already ${formatWorkStatus(status)}.`)
  if (status === 'done')
    return noEffects({ ...state, prompt: { ask: 'done', id: story.id, text: '' } })
  return callTool(state, {
    tool: 'worksync_update_story',
    args: { story_id: story.id, status, expect_rev: story.rev },
    text: `Moved ${sanitize(story.id)} to ${formatWorkStatus(status)}.`,
  })
}

function shiftColumn(state: State, by: 1 | -1): Step {
  return onStory(state, (story) => {
    const columns = buildColumns({ ...state, filter: '' })
    const at = columns.findIndex(({ status }) => status === story.status)
    const next = columns[at + by]
    return next
      ? setStatus(state, story, next.status)
      : showMessage(state, 'No column on that side.')
  })
}

const openChoice = (
  state: State,
  ask: 'move' | 'sprint' | 'project',
  options: Extract<Prompt, { at: number }>['options'],
  id?: string,
): Step =>
  noEffects({
    ...state,
    prompt: { ask, options, at: 0, ...(id !== undefined && { id }) },
  })

const askMove = (state: State): Step =>
  onStory(state, (story) => {
    const toStatus = storyStatuses
      .filter((status) => status !== story.status)
      .map((status) => ({ label: formatWorkStatus(status), to: { status } satisfies Target }))
    const toSprint = state.sprints
      .filter(({ id, status }) => id !== story.sprint_id && status !== 'completed')
      .map((sprint) => ({
        label: `sprint ${sanitize(sprint.id)}  ${formatTitle(sprint)}`,
        to: { sprint: sprint.id } satisfies Target,
      }))
    return openChoice(state, 'move', [...toStatus, ...toSprint], story.id)
  })

function askSprint(state: State): Step {
  const options = state.sprints.map((sprint) => ({
    label: `${sanitize(sprint.id)}  ${formatTitle(sprint)}, ${formatWorkStatus(sprint.status)}, ${sprint.done} of ${sprint.stories} done`,
    to: { show: sprint.id },
  }))
  return options.length > 0
    ? openChoice(state, 'sprint', options)
    : showMessage(state, 'No sprints.')
}

function askProject(state: State): Step {
  const options = state.projects
    .filter((project) => project !== state.project)
    .map((project) => ({ label: sanitize(project), to: { project } }))
  return options.length > 0
    ? openChoice(state, 'project', options)
    : showMessage(state, 'No other projects.')
}

/** Shows another project or sprint and resets the state of the board. */
const switchTo = (state: State, to: Partial<Pick<State, 'project' | 'sprint'>>): Step => ({
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

export type ChoicePrompt = Extract<Prompt, { at: number }>
type TextPrompt = Exclude<Prompt, ChoicePrompt>

export const isChoicePrompt = (prompt: Prompt | undefined): prompt is ChoicePrompt =>
  prompt !== undefined && 'at' in prompt

function handlePromptKey(state: State, prompt: Prompt, key: Key): Step {
  if (key.name === 'escape')
    return showMessage({ ...state, prompt: undefined }, isViewPrompt(prompt) ? '' : 'Canceled.')
  if (!isChoicePrompt(prompt)) return handleTextKey(state, prompt, key)
  return state.isPasting ? noEffects(state) : handleChoiceKey(state, prompt, key)
}

/** Whether the prompt changes only the view. */
const isViewPrompt = ({ ask }: Prompt) => ask === 'filter' || ask === 'sprint' || ask === 'project'

function handleChoiceKey(state: State, prompt: ChoicePrompt, key: Key): Step {
  const next = applyChoiceKey(prompt.at, prompt.options, key)
  if (next && 'at' in next) return noEffects({ ...state, prompt: { ...prompt, at: next.at } })
  const option = next && prompt.options[next.taken]
  return option ? applyChoice({ ...state, prompt: undefined }, prompt, option.to) : noEffects(state)
}

function applyChoice(
  state: State,
  { id }: ChoicePrompt,
  to: ChoicePrompt['options'][number]['to'],
): Step {
  if ('show' in to) return switchTo(state, { sprint: to.show })
  if ('project' in to) return switchTo(state, { project: to.project, sprint: undefined })
  const story = state.stories.find((one) => one.id === id)
  if (!story) return showMessage(state, 'The story is no longer on the board.')
  if ('status' in to) return setStatus(state, story, to.status)
  return callTool(state, {
    tool: 'worksync_move',
    args: { story_id: story.id, sprint_id: to.sprint, expect_rev: story.rev },
    text: `Moved ${sanitize(story.id)} to ${sanitize(to.sprint)}.`,
  })
}

const maxInputLength = 500

function handleTextKey(state: State, prompt: TextPrompt, key: Key): Step {
  if (key.name === 'enter' && !state.isPasting)
    return submitPrompt(state, prompt, prompt.text.trim())
  return noEffects({
    ...state,
    prompt: { ...prompt, text: applyTextKey(prompt.text, key, ' ').slice(0, maxInputLength) },
  })
}

function submitPrompt(state: State, prompt: TextPrompt, text: string): Step {
  const next: State = { ...state, prompt: undefined }
  switch (prompt.ask) {
    case 'filter':
      return noEffects(keepSelection(state, { ...next, filter: text }))
    case 'title':
      if (text === '' || state.sprint === undefined) return showMessage(next, 'Canceled: no title.')
      return callTool(next, {
        tool: 'worksync_add_story',
        args: { sprint_id: state.sprint, title: text },
        text: 'Added the story.',
      })
    case 'comment':
      if (text === '') return showMessage(next, 'Canceled: no comment.')
      return callTool(next, {
        tool: 'worksync_comment',
        args: { story_id: prompt.id, text },
        text: `Commented on ${sanitize(prompt.id)}.`,
      })
    case 'done':
      return callTool(next, {
        tool: 'worksync_done',
        args: { story_id: prompt.id, ...(text !== '' && { summary: text }) },
        text: `Completed ${sanitize(prompt.id)}.`,
      })
  }
}

/** The state machine of the board: takes an event, returns the next state and effects. */
export function reduce(state: State, event: Event): Step {
  switch (event.event) {
    case 'key':
      return handleKey({ ...state, now: event.now }, event.key, keys)
    case 'tick':
      return { state: { ...state, now: event.now }, effects: [{ act: 'look' }] }
    case 'resized':
      return noEffects(scrollBy({ ...state, size: event.size }, 0))
    case 'loaded':
      return event.project === state.project ? applyLoaded(state, event) : noEffects(state)
    case 'unreachable':
      return noEffects({ ...state, offline: event.message })
    case 'read':
      return noEffects({ ...state, detail: event.story })
    case 'changed': {
      const selected = event.id ?? state.selected
      const message = { text: event.text, tone: 'good' } as const
      return { state: { ...state, isBusy: false, selected, message }, effects: [{ act: 'load' }] }
    }
    case 'message':
      // A refusal can be due to a stale board.
      return {
        state: { ...state, isBusy: false, message: event.message },
        effects: event.message.tone === 'bad' ? [{ act: 'load' }] : [],
      }
  }
}

type Keys = Readonly<Record<string, (state: State) => Step>>

const claim = (state: State) =>
  onStory(state, ({ id }) =>
    callTool(state, {
      tool: 'worksync_claim',
      args: { story_id: id },
      text: `Claimed ${sanitize(id)}.`,
    }),
  )

const release = (state: State) =>
  onStory(state, ({ id }) =>
    callTool(state, {
      tool: 'worksync_release',
      args: { story_id: id },
      text: `Released ${sanitize(id)}.`,
    }),
  )

const sharedKeys: Keys = {
  '>': (state) => shiftColumn(state, 1),
  '<': (state) => shiftColumn(state, -1),
  L: (state) => shiftColumn(state, 1),
  H: (state) => shiftColumn(state, -1),
  m: askMove,
  d: (state) => onStory(state, (story) => setStatus(state, story, 'done')),
  c: claim,
  C: release,
  t: (state) =>
    onStory(state, ({ id }) => noEffects({ ...state, prompt: { ask: 'comment', id, text: '' } })),
  '?': (state) => noEffects({ ...state, view: 'help' }),
}

const boardKeys: Keys = {
  ...sharedKeys,
  ...navigationKeys(moveWithinColumn, ({ size }) => storiesInColumn(size)),
  l: (state) => moveAcrossColumns(state, 1),
  right: (state) => moveAcrossColumns(state, 1),
  h: (state) => moveAcrossColumns(state, -1),
  left: (state) => moveAcrossColumns(state, -1),
  enter: openSelected,
  a: (state) =>
    state.sprint === undefined
      ? showMessage(state, 'No sprint. Create one with `cowork work sprint <id>`.')
      : noEffects({ ...state, prompt: { ask: 'title', text: '' } }),
  s: askSprint,
  p: askProject,
  r: (state) => ({ state, effects: [{ act: 'load' }] }),
  '/': (state) => noEffects({ ...state, prompt: { ask: 'filter', text: state.filter } }),
  escape: (state) => noEffects(keepSelection(state, { ...state, filter: '' })),
  q: (state) => ({ state, effects: [{ act: 'leave', isInterrupted: false }] }),
}

const back = (state: State): Step => noEffects({ ...state, view: 'board' })

const detailKeys: Keys = {
  ...sharedKeys,
  ...readerKeys(scrollBy, ({ size }) => bodyRows(size) - 1, back),
}

const keys = { answered: handlePromptKey, first: boardKeys, detail: detailKeys, back }

function applyLoaded(state: State, event: Extract<Event, { event: 'loaded' }>): Step {
  const { sprint, sprints, stories, isStale } = event
  const known = { ...state, sprint, sprints, stories, isStale, isLoaded: true, offline: undefined }
  const next = keepSelection(state, known)
  const story = selectedStory(next)
  const isOld = next.view === 'detail' && story && next.detail?.rev !== story.rev
  return { state: next, effects: isOld ? [{ act: 'read', id: story.id }] : [] }
}
