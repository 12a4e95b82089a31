/** Tells followers that the ledger has grown. Listeners must not throw and must not block. */
export function createAppendNotifier() {
  const listeners = new Set<() => void>()
  return {
    grown() {
      for (const listener of listeners) listener()
    },
    onAppend(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
