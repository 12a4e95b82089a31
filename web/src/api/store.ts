/** Creates a store for `useSyncExternalStore`. */
export function createStore<T>(initial: T) {
  let value = initial
  const watchers = new Set<() => void>()
  return {
    get: () => value,
    set(next: T) {
      value = next
      for (const watcher of watchers) watcher()
    },
    subscribe(watcher: () => void) {
      watchers.add(watcher)
      return () => {
        watchers.delete(watcher)
      }
    },
  }
}
