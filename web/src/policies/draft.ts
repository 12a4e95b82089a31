import { createStore } from '../api/store.ts'

/** An unsaved text and its base version, stored in this tab. */
export type Draft = { readonly text: string; readonly from: string }

const place = 'cowork.policies'

function stored(): Draft | undefined {
  try {
    const given = JSON.parse(sessionStorage.getItem(place) ?? 'null') as Partial<Draft> | null
    return typeof given?.text === 'string' && typeof given.from === 'string'
      ? { text: given.text, from: given.from }
      : undefined
  } catch {
    return undefined
  }
}

const store = createStore(stored())

export const draft = {
  get: store.get,
  subscribe: store.subscribe,
  keep(next: Draft) {
    sessionStorage.setItem(place, JSON.stringify(next))
    store.set(next)
  },
  drop() {
    sessionStorage.removeItem(place)
    store.set(undefined)
  },
}
