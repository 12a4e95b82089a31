/** Maximum receipts; the oldest are dropped first. */
const maxReceipts = 10_000

export type ReadReceipts = ReturnType<typeof createReadReceipts>

/**
 * Records which requests and checks a person has opened here. Only a decision about an opened item is evidence (T11,
 * T14). Kept in memory: after a restart, an item must be opened again.
 */
export function createReadReceipts() {
  const opened = new Set<string>()
  const toKey = (person: string, id: string) => JSON.stringify([person, id])
  return {
    note(person: string, id: string): void {
      const key = toKey(person, id)
      opened.delete(key)
      opened.add(key)
      const [oldest] = opened
      if (opened.size > maxReceipts && oldest !== undefined) opened.delete(oldest)
    },
    has: (person: string, id: string): boolean => opened.has(toKey(person, id)),
  }
}
