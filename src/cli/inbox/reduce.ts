import { isCheck } from '../approvals.ts'
import type { ApprovalItem } from '../approvals.ts'
import { sanitize } from '../output.ts'
import {
  navigationKeys,
  noEffects,
  openSelected,
  handleKey,
  reading,
  showMessage,
} from '../screen/keys.ts'
import type { Message } from '../screen/keys.ts'
import {
  answerHandoff,
  handlePromptKey,
  approve,
  reject,
  differently,
  edit,
  applyFilter,
  keepSelection,
  moveSelection,
  scrollBy,
  keyRepeatMs,
  skip,
  snooze,
  undo,
} from './actions.ts'
import { score } from './detail.ts'
import { formatTimeLeft } from './lines.ts'
import { bodyRows, itemsOnScreen, selectedItem } from './state.ts'
import type { Event, Outcome, State, Step } from './state.ts'

/** The screen as a pure machine: what happened in, the next state and what is to be done out. */
export function reduce(state: State, event: Event): Step {
  switch (event.event) {
    case 'key':
      return handleKey({ ...state, now: event.now }, event.key, keys)
    case 'tick':
      return { state: { ...state, now: event.now }, effects: [{ act: 'load' }] }
    case 'resized':
      return noEffects(scrollBy({ ...state, size: event.size }, 0))
    case 'loaded':
      return event.filter === state.filter ? loaded(state, event) : noEffects(state)
    case 'unreachable':
      return noEffects({ ...state, offline: event.message })
    case 'read':
      return noEffects({ ...state, detail: event.detail })
    case 'decided':
      return decided({ ...state, now: event.now, isBusy: false }, event.outcome)
    case 'undone':
      return undone({ ...state, isBusy: false }, event.outcome)
    case 'policies': {
      const { id, options } = event
      return noEffects({ ...state, isBusy: false, prompt: { ask: 'policy', id, options, at: 0 } })
    }
    case 'access': {
      const { id, options } = event
      return noEffects({ ...state, isBusy: false, prompt: { ask: 'access', id, options, at: 0 } })
    }
    case 'edited': {
      const { id, change } = event
      return noEffects({ ...state, isBusy: false, prompt: { ask: 'changed', id, change } })
    }
    case 'told':
      return noEffects({ ...state, isBusy: false, message: event.message })
  }
}

type Keys = Readonly<Record<string, (state: State) => Step>>

const inBoth: Keys = {
  a: approve,
  d: reject,
  e: edit,
  o: differently,
  x: skip,
  s: snooze,
  S: (state) => showMessage({ ...state, snoozed: new Set() }, 'What was snoozed is back.'),
  z: undo,
  r: answerHandoff,
  '/': (state) =>
    noEffects({ ...state, view: 'list', prompt: { ask: 'filter', text: state.filter } }),
  '?': (state) => noEffects({ ...state, view: 'help' }),
}

const inList: Keys = {
  ...inBoth,
  ...navigationKeys(moveSelection, ({ size }) => itemsOnScreen(size)),
  enter: openSelected,
  right: openSelected,
  l: openSelected,
  escape: (state) => (state.filter === '' ? noEffects(state) : applyFilter(state, '')),
  q: (state) => ({ state, effects: [{ act: 'leave', isInterrupted: false }] }),
}

const backToList = (state: State): Step => noEffects({ ...state, view: 'list' })

const inDetail: Keys = {
  ...inBoth,
  ...reading(scrollBy, ({ size }) => bodyRows(size) - 1, backToList),
  n: (state) => openSelected(moveSelection(state, 1).state),
  p: (state) => openSelected(moveSelection(state, -1).state),
}

const keys = { answered: handlePromptKey, first: inList, detail: inDetail, back: backToList }

function loaded(state: State, { items, total, isMore }: Extract<Event, { event: 'loaded' }>): Step {
  const known = { ...state, items, total, isMore, isLoaded: true, offline: undefined }
  const next = keepSelection(state, known)
  const item = selectedItem(next)
  const isStale = next.view === 'detail' && item && standing(next.detail) !== standing(item)
  return { state: next, effects: isStale ? [{ act: 'read', id: item.id }] : [] }
}

const standing = (item: ApprovalItem | undefined) =>
  item && JSON.stringify([item.id, item.status, item.held?.until, item.approvers.given])

function decided(state: State, outcome: Outcome): Step {
  const { id, status, error } = outcome
  const effects = [{ act: 'load' }] as const
  if (error) return { state: showMessage(state, sanitize(error.message), 'bad').state, effects }
  const settled: State = {
    ...state,
    view: 'list',
    quietUntil: state.now + keyRepeatMs,
    lastHeld: status === 'held' ? id : state.lastHeld,
    message: { text: textOf(state, outcome), tone: 'good' },
  }
  if (status === 'held' || status === 'voted')
    return { state: moveSelection(settled, 1).state, effects }
  const gone = { ...settled, decided: new Set([...settled.decided, id]) }
  return { state: keepSelection(state, gone), effects }
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
    return `Held: it counts in ${formatTimeLeft(Date.parse(until) - now)}. z takes it back.`
  if (status === 'voted') return 'Your approval counts; another person must approve too.'
  const word = status === 'rejected' ? 'Denied' : 'Approved'
  if (!trust) return `${word}.`
  const more = trust.promoted ? ', promoted' : trust.demoted ? ', demoted' : ''
  return `${word}. Trust ${score(trust.from)} → ${score(trust.to)}${more}.`
}

function undone(state: State, { id, error }: Outcome): Step {
  const message: Message = error
    ? { text: sanitize(error.message), tone: 'bad' }
    : { text: 'Undone: it waits again.', tone: 'good' }
  const lastHeld = state.lastHeld === id ? undefined : state.lastHeld
  const selected = error ? state.selected : id
  return { state: { ...state, lastHeld, message, selected }, effects: [{ act: 'load' }] }
}
