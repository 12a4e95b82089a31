/** What each person has opened lately, the newest last; of more than these the oldest are forgotten. */
const mostOpened = 10_000

export type Looks = ReturnType<typeof createLooks>

/**
 * Which requests and checks a person has opened here. Only what somebody has looked at says that an agent was right
 * (T11, T14). Kept in memory: after a restart it is opened again.
 */
export function createLooks() {
  const opened = new Set<string>()
  const keyOf = (person: string, id: string) => JSON.stringify([person, id])
  return {
    note(person: string, id: string): void {
      const key = keyOf(person, id)
      opened.delete(key)
      opened.add(key)
      const [oldest] = opened
      if (opened.size > mostOpened && oldest !== undefined) opened.delete(oldest)
    },
    has: (person: string, id: string): boolean => opened.has(keyOf(person, id)),
  }
}
