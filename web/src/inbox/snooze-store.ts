import { createStore } from '../api/store.ts'
import { nextSnoozeEnd, parseSnoozes, activeSnoozes } from './snooze.ts'
import type { SnoozeMap } from './snooze.ts'

const place = 'cowork.snoozed'
const stored = () => activeSnoozes(parseSnoozes(localStorage.getItem(place)), Date.now())

const store = createStore(stored())
let timer: ReturnType<typeof setTimeout> | undefined

/** The maximum delay of `setTimeout`. */
const longest = 2 ** 31 - 1

function show(next: SnoozeMap) {
  store.set(next)
  clearTimeout(timer)
  const wake = nextSnoozeEnd(next)
  if (wake !== undefined)
    timer = setTimeout(() => show(stored()), Math.min(wake - Date.now() + 50, longest))
}

function keep(next: SnoozeMap) {
  localStorage.setItem(place, JSON.stringify(next))
  show(next)
}

show(store.get())
addEventListener('storage', ({ key }) => {
  if (key === place) show(stored())
})

/** Snoozed items, stored in this browser only. */
export const snoozed = {
  get: store.get,
  subscribe: store.subscribe,
  until(ids: readonly string[], time: number) {
    keep({ ...stored(), ...Object.fromEntries(ids.map((id) => [id, time])) })
  },
  wake(ids: readonly string[]) {
    const gone = new Set(ids)
    keep(Object.fromEntries(Object.entries(stored()).filter(([id]) => !gone.has(id))))
  },
}
