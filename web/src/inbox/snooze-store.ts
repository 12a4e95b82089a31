import { createStore } from '../api/store.ts'
import { nextSnoozeEnd, parseSnoozes, activeSnoozes } from './snooze.ts'
import type { SnoozeMap } from './snooze.ts'

const place = 'cowork.snoozed'
const stored = () => activeSnoozes(parseSnoozes(localStorage.getItem(place)), Date.now())

const store = createStore(stored())
let timer: ReturnType<typeof setTimeout> | undefined

/** The longest a timer of the browser can wait. */
const longest = 2 ** 31 - 1

function show(next: SnoozeMap) {
  store.set(next)
  clearTimeout(timer)
  const wake = nextSnoozeEnd(next)
  // What wakes up shows again by itself.
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

/** Putting off is a person's own affair: it stays in this browser and decides nothing. */
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
