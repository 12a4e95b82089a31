import { createStore } from '../api/store.ts'

/** An unsaved text and its base version, stored in this tab. */
export type Draft = { readonly text: string; readonly from: string }

const storageKey = 'cowork.policies'

function readStored(): Draft | undefined {
  try {
    const stored = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Partial<Draft> | null
    return typeof stored?.text === 'string' && typeof stored.from === 'string'
      ? { text: stored.text, from: stored.from }
      : undefined
  } catch {
    return undefined
  }
}

const store = createStore(readStored())

export const draft = {
  get: store.get,
  subscribe: store.subscribe,
  save(next: Draft) {
    sessionStorage.setItem(storageKey, JSON.stringify(next))
    store.set(next)
  },
  discard() {
    sessionStorage.removeItem(storageKey)
    store.set(undefined)
  },
}
