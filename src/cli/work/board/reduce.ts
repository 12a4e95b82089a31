import { plain } from '../../plain.ts'
import { moving, pressed } from '../../screen/keys.ts'
import {
  across,
  askMove,
  askProject,
  askSprint,
  calling,
  down,
  keepingPlace,
  onStory,
  only,
  opened,
  pushed,
  put,
  say,
  scrolled,
} from './moves.ts'
import { answered } from './prompts.ts'
import { bodyRows, selectedStory, storiesInColumn } from './state.ts'
import type { Event, State, Step } from './state.ts'

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

const back = (state: State) => only({ ...state, view: 'board' })

const inDetail: Keys = {
  ...inBoth,
  ...moving(
    (state, by) => only(scrolled(state, by)),
    ({ size }) => bodyRows(size) - 1,
  ),
  enter: back,
  left: back,
  h: back,
  escape: back,
  q: back,
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
