import { isCheck } from '../approvals.ts'
import type { ApprovalItem } from '../approvals.ts'
import { sanitize } from '../output.ts'
import {
  navigationKeys,
  noEffects,
  openSelected,
  handleKey,
  readerKeys,
  showMessage,
} from '../screen/keys.ts'
import type { Message } from '../screen/keys.ts'
import {
  answerHandoff,
  handlePromptKey,
  approve,
  reject,
  rejectAsPreference,
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
import { formatScore } from './detail.ts'
import { formatTimeLeft } from './lines.ts'
import { bodyRows, itemsOnScreen, selectedItem } from './state.ts'
import type { Event, Outcome, State, Step } from './state.ts'

/** Computes the next state and effects of an event; has no side effects. */
export function reduce(state: State, event: Event): Step {
  switch (event.event) {
    case 'key':
      return handleKey({ ...state, now: event.now }, event.key, keys)
    case 'tick':
      return { state: { ...state, now: event.now }, effects: [{ act: 'load' }] }
    case 'resized':
      return noEffects(scrollBy({ ...state, size: event.size }, 0))
    case 'loaded':
      return event.filter === state.filter ? applyLoaded(state, event) : noEffects(state)
    case 'unreachable':
      return noEffects({ ...state, offline: event.message })
    case 'read':
      return noEffects({ ...state, detail: event.detail })
    case 'decided':
      return applyDecided({ ...state, now: event.now, isBusy: false }, event.outcome)
    case 'undone':
      return applyUndone({ ...state, isBusy: false }, event.outcome)
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
    case 'message':
      return noEffects({ ...state, isBusy: false, message: event.message })
  }
}

type Keys = Readonly<Record<string, (state: State) => Step>>

const sharedKeys: Keys = {
  a: approve,
  d: reject,
  e: edit,
  o: rejectAsPreference,
  x: skip,
  s: snooze,
  S: (state) => showMessage({ ...state, snoozed: new Set() }, 'Showing snoozed items.'),
  z: undo,
  r: answerHandoff,
  '/': (state) =>
    noEffects({ ...state, view: 'list', prompt: { ask: 'filter', text: state.filter } }),
  '?': (state) => noEffects({ ...state, view: 'help' }),
}

const listKeys: Keys = {
  ...sharedKeys,
  ...navigationKeys(moveSelection, ({ size }) => itemsOnScreen(size)),
  enter: openSelected,
  right: openSelected,
  l: openSelected,
  escape: (state) => (state.filter === '' ? noEffects(state) : applyFilter(state, '')),
  q: (state) => ({ state, effects: [{ act: 'leave', isInterrupted: false }] }),
}

const backToList = (state: State): Step => noEffects({ ...state, view: 'list' })

const detailKeys: Keys = {
  ...sharedKeys,
  ...readerKeys(scrollBy, ({ size }) => bodyRows(size) - 1, backToList),
  n: (state) => openSelected(moveSelection(state, 1).state),
  p: (state) => openSelected(moveSelection(state, -1).state),
}

const keys = { answered: handlePromptKey, first: listKeys, detail: detailKeys, back: backToList }

function applyLoaded(
  state: State,
  { items, total, isMore }: Extract<Event, { event: 'loaded' }>,
): Step {
  const known = { ...state, items, total, isMore, isLoaded: true, offline: undefined }
  const next = keepSelection(state, known)
  const item = selectedItem(next)
  const isStale = next.view === 'detail' && item && changeKey(next.detail) !== changeKey(item)
  return { state: next, effects: isStale ? [{ act: 'read', id: item.id }] : [] }
}

const changeKey = (item: ApprovalItem | undefined) =>
  item && JSON.stringify([item.id, item.status, item.held?.until, item.approvers.given])

function applyDecided(state: State, outcome: Outcome): Step {
  const { id, status, error } = outcome
  const effects = [{ act: 'load' }] as const
  if (error) return { state: showMessage(state, sanitize(error.message), 'bad').state, effects }
  const next: State = {
    ...state,
    view: 'list',
    quietUntil: state.now + keyRepeatMs,
    lastHeld: status === 'held' ? id : state.lastHeld,
    message: { text: formatResult(state, outcome), tone: 'good' },
  }
  if (status === 'held' || status === 'voted')
    return { state: moveSelection(next, 1).state, effects }
  const hidden = { ...next, decided: new Set([...next.decided, id]) }
  return { state: keepSelection(state, hidden), effects }
}

function formatResult(state: State, outcome: Outcome): string {
  const item = state.items.find(({ id }) => id === outcome.id)
  return item && isCheck(item) && outcome.status !== 'held'
    ? formatCheckResult(outcome)
    : formatDecisionResult(outcome, state.now)
}

function formatCheckResult({ status, trust, counted, look_back: rows = 0 }: Outcome): string {
  if (status === 'approved')
    return counted === false ? 'Closed without trust change.' : 'Confirmed.'
  const trustText = trust ? ` Trust ${formatScore(trust.from)} → ${formatScore(trust.to)}.` : ''
  const others = rows === 1 ? '1 more action' : `${rows} more actions`
  return `Decided.${trustText}${rows > 0 ? ` ${others} added for review.` : ''}`
}

function formatDecisionResult({ status, until, trust, note }: Outcome, now: number): string {
  if (note !== undefined) return note
  if (status === 'held' && until)
    return `Applies in ${formatTimeLeft(Date.parse(until) - now)}. Press z to undo.`
  if (status === 'voted') return 'Approval recorded. 1 more approval required.'
  const label = status === 'rejected' ? 'Rejected' : 'Approved'
  if (!trust) return `${label}.`
  const modeText = trust.promoted ? ', promoted' : trust.demoted ? ', demoted' : ''
  return `${label}. Trust ${formatScore(trust.from)} → ${formatScore(trust.to)}${modeText}.`
}

function applyUndone(state: State, { id, error }: Outcome): Step {
  const message: Message = error
    ? { text: sanitize(error.message), tone: 'bad' }
    : { text: 'Undone.', tone: 'good' }
  const lastHeld = state.lastHeld === id ? undefined : state.lastHeld
  const selected = error ? state.selected : id
  return { state: { ...state, lastHeld, message, selected }, effects: [{ act: 'load' }] }
}
