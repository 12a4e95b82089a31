import { isCheck } from '../approvals.ts'
import type { Item } from '../approvals.ts'
import { plain } from '../output.ts'
import { moving, only, opened, pressed, reading, say } from '../screen/keys.ts'
import type { Message } from '../screen/keys.ts'
import {
  answer,
  answered,
  approve,
  deny,
  differently,
  edit,
  filtered,
  keepingPlace,
  moved,
  scrolled,
  settleMs,
  skip,
  snooze,
  undo,
} from './acts.ts'
import { score } from './detail.ts'
import { left } from './lines.ts'
import { bodyRows, itemsOnScreen, selectedItem } from './state.ts'
import type { Event, Outcome, State, Step } from './state.ts'

/** The screen as a pure machine: what happened in, the next state and what is to be done out. */
export function reduce(state: State, event: Event): Step {
  switch (event.event) {
    case 'key':
      return pressed({ ...state, now: event.now }, event.key, keys)
    case 'tick':
      return { state: { ...state, now: event.now }, effects: [{ act: 'load' }] }
    case 'resized':
      return only(scrolled({ ...state, size: event.size }, 0))
    case 'loaded':
      return event.filter === state.filter ? loaded(state, event) : only(state)
    case 'unreachable':
      return only({ ...state, offline: event.message })
    case 'read':
      return only({ ...state, detail: event.detail })
    case 'decided':
      return decided({ ...state, now: event.now, isBusy: false }, event.outcome)
    case 'undone':
      return undone({ ...state, isBusy: false }, event.outcome)
    case 'policies': {
      const { id, options } = event
      return only({ ...state, isBusy: false, prompt: { ask: 'policy', id, options, at: 0 } })
    }
    case 'access': {
      const { id, options } = event
      return only({ ...state, isBusy: false, prompt: { ask: 'access', id, options, at: 0 } })
    }
    case 'edited': {
      const { id, change } = event
      return only({ ...state, isBusy: false, prompt: { ask: 'changed', id, change } })
    }
    case 'told':
      return only({ ...state, isBusy: false, message: event.message })
  }
}

type Keys = Readonly<Record<string, (state: State) => Step>>

const inBoth: Keys = {
  a: approve,
  d: deny,
  e: edit,
  o: differently,
  x: skip,
  s: snooze,
  S: (state) => say({ ...state, snoozed: new Set() }, 'What was snoozed is back.'),
  z: undo,
  r: answer,
  '/': (state) => only({ ...state, view: 'list', prompt: { ask: 'filter', text: state.filter } }),
  '?': (state) => only({ ...state, view: 'help' }),
}

const inList: Keys = {
  ...inBoth,
  ...moving(moved, ({ size }) => itemsOnScreen(size)),
  enter: opened,
  right: opened,
  l: opened,
  escape: (state) => (state.filter === '' ? only(state) : filtered(state, '')),
  q: (state) => ({ state, effects: [{ act: 'leave', isInterrupted: false }] }),
}

const backToList = (state: State): Step => only({ ...state, view: 'list' })

const inDetail: Keys = {
  ...inBoth,
  ...reading(scrolled, ({ size }) => bodyRows(size) - 1, backToList),
  n: (state) => opened(moved(state, 1).state),
  p: (state) => opened(moved(state, -1).state),
}

const keys = { answered, first: inList, detail: inDetail, back: backToList }

function loaded(state: State, { items, total, isMore }: Extract<Event, { event: 'loaded' }>): Step {
  const known = { ...state, items, total, isMore, isLoaded: true, offline: undefined }
  const next = keepingPlace(state, known)
  const item = selectedItem(next)
  const isStale = next.view === 'detail' && item && standing(next.detail) !== standing(item)
  return { state: next, effects: isStale ? [{ act: 'read', id: item.id }] : [] }
}

const standing = (item: Item | undefined) =>
  item && JSON.stringify([item.id, item.status, item.held?.until, item.approvers.given])

function decided(state: State, outcome: Outcome): Step {
  const { id, status, error } = outcome
  const effects = [{ act: 'load' }] as const
  if (error) return { state: say(state, plain(error.message), 'bad').state, effects }
  const settled: State = {
    ...state,
    view: 'list',
    quietUntil: state.now + settleMs,
    lastHeld: status === 'held' ? id : state.lastHeld,
    message: { text: textOf(state, outcome), tone: 'good' },
  }
  if (status === 'held' || status === 'voted') return { state: moved(settled, 1).state, effects }
  const gone = { ...settled, decided: new Set([...settled.decided, id]) }
  return { state: keepingPlace(state, gone), effects }
}

function textOf(state: State, outcome: Outcome): string {
  const item = state.items.find(({ id }) => id === outcome.id)
  return item && isCheck(item) && outcome.status !== 'held'
    ? checkText(outcome)
    : outcomeText(outcome, state.now)
}

function checkText({ status, trust, counted, look_back: rows = 0 }: Outcome): string {
  if (status === 'approved')
    return counted === false ? 'Closed: it counts for nothing.' : 'Confirmed.'
  const moved = trust ? ` Trust ${score(trust.from)} → ${score(trust.to)}.` : ''
  const others = rows === 1 ? '1 other action comes' : `${rows} other actions come`
  return `Answered.${moved}${rows > 0 ? ` ${others} to the inbox: look back at them.` : ''}`
}

function outcomeText({ status, until, trust, note }: Outcome, now: number): string {
  if (note !== undefined) return note
  if (status === 'held' && until)
    return `Held: it counts in ${left(Date.parse(until) - now)}. z takes it back.`
  if (status === 'voted') return 'Your approval counts; another person must approve too.'
  const word = status === 'rejected' ? 'Denied' : 'Approved'
  if (!trust) return `${word}.`
  const more = trust.promoted ? ', promoted' : trust.demoted ? ', demoted' : ''
  return `${word}. Trust ${score(trust.from)} → ${score(trust.to)}${more}.`
}

function undone(state: State, { id, error }: Outcome): Step {
  const message: Message = error
    ? { text: plain(error.message), tone: 'bad' }
    : { text: 'Undone: it waits again.', tone: 'good' }
  const lastHeld = state.lastHeld === id ? undefined : state.lastHeld
  const selected = error ? state.selected : id
  return { state: { ...state, lastHeld, message, selected }, effects: [{ act: 'load' }] }
}
