import { useSyncExternalStore } from 'react'

/** One clock for all who watch it; it stands while nobody does. */
function createClock(every: number) {
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
  return () => useSyncExternalStore(subscribe, () => now)
}

/** The time, to the half minute: for texts like “2 min ago”. */
export const useNow = createClock(30_000)

/** The time, to the half second: for what runs out before one's eyes. */
export const useSecond = createClock(500)
