import { useSyncExternalStore } from 'react'

const every = 30_000
const watchers = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function tick() {
  now = Date.now()
  for (const watcher of watchers) watcher()
}

function subscribe(watcher: () => void) {
  if (watchers.size === 0) {
    now = Date.now()
    timer = setInterval(tick, every)
  }
  watchers.add(watcher)
  return () => {
    watchers.delete(watcher)
    if (watchers.size === 0) clearInterval(timer)
  }
}

/** The time, to the half minute: for texts like “2 min ago”. One clock for all of them. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)
