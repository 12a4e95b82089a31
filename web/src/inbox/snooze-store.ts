import { createStore } from '../api/store.ts'
import { nextSnoozeEnd, parseSnoozes, activeSnoozes } from './snooze.ts'
import type { SnoozeMap } from './snooze.ts'

const storageKey = 'cowork.snoozed'
const readStored = () => activeSnoozes(parseSnoozes(localStorage.getItem(storageKey)), Date.now())

const store = createStore(readStored())
let timer: ReturnType<typeof setTimeout> | undefined

/** The maximum delay of `setTimeout`. */
const maxTimerMs = 2 ** 31 - 1

function applySnoozes(next: SnoozeMap) {
  store.set(next)
  clearTimeout(timer)
  const wake = nextSnoozeEnd(next)
  if (wake !== undefined)
    timer = setTimeout(
      () => applySnoozes(readStored()),
      Math.min(wake - Date.now() + 50, maxTimerMs),
    )
}

function saveSnoozes(next: SnoozeMap) {
  localStorage.setItem(storageKey, JSON.stringify(next))
  applySnoozes(next)
}

applySnoozes(store.get())
addEventListener('storage', ({ key }) => {
  if (key === storageKey) applySnoozes(readStored())
})

/** Snoozed items, stored in this browser only. */
export const snoozed = {
  get: store.get,
  subscribe: store.subscribe,
  until(ids: readonly string[], time: number) {
    saveSnoozes({ ...readStored(), ...Object.fromEntries(ids.map((id) => [id, time])) })
  },
  wake(ids: readonly string[]) {
    const ended = new Set(ids)
    saveSnoozes(Object.fromEntries(Object.entries(readStored()).filter(([id]) => !ended.has(id))))
  },
}
