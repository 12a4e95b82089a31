import { bodyRows, pageSize, readable, visible } from './state.ts'
import type { Message, State, Step } from './state.ts'

export const only = (state: State): Step => ({ state, effects: [] })
export const say = (state: State, text: string, tone: Message['tone'] = 'calm'): Step =>
  only({ ...state, message: { text, tone } })

const mostItems = 1000

/** To another one, and for more of them at their end. */
export function moved(state: State, by: number): Step {
  const shown = visible(state)
  const at = shown.findIndex(({ id }) => id === state.selected)
  const next = Math.min(Math.max(at + by, 0), shown.length - 1)
  const isAtEnd = next === shown.length - 1 && state.isMore
  const limit = isAtEnd ? Math.min(state.limit + pageSize, mostItems) : state.limit
  return {
    state: { ...state, selected: shown[next]?.id, limit },
    effects: limit > state.limit ? [{ act: 'load' }] : [],
  }
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

/** Something may no longer be shown: the hand then goes to what takes its place. */
export function keepingPlace(state: State, next: State): State {
  const shown = visible(next)
  if (shown.some(({ id }) => id === next.selected)) return next
  const at = visible(state).findIndex(({ id }) => id === state.selected)
  return { ...next, selected: shown[Math.min(Math.max(at, 0), shown.length - 1)]?.id, scroll: 0 }
}

export function filtered(state: State, filter: string): Step {
  const afresh = { filter, selected: undefined, items: [], isLoaded: false, limit: pageSize }
  return { state: { ...state, ...afresh, prompt: undefined }, effects: [{ act: 'load' }] }
}
