/** Tells followers that the ledger has grown. Listeners must not throw and must not block. */
export function createGrowth() {
  const listeners = new Set<() => void>()
  return {
    grown() {
      for (const listener of listeners) listener()
    },
    onGrowth(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
