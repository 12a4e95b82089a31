import { useSyncExternalStore } from 'react'

/** Creates a shared clock that stops while nothing uses it. */
function createClock(intervalMs: number) {
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
      timer = setInterval(tick, intervalMs)
    }
    watchers.add(watcher)
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0) clearInterval(timer)
    }
  }
  return () => useSyncExternalStore(subscribe, () => now)
}

/** Returns the time, updated every 30 s. */
export const useNow = createClock(30_000)

/** Returns the time, updated twice per second, for countdowns. */
export const useSecond = createClock(500)
