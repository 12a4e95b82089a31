/** Notifies followers of new ledger entries. Listeners must not throw and must not block. */
export function createAppendNotifier() {
  const listeners = new Set<() => void>()
  return {
    notify() {
      for (const listener of listeners) listener()
    },
    onAppend(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
