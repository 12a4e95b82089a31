/**
 * Calls with an end in time. Nearly all are answered long before it: to set a timer for each and take it back
 * costs more than the call's own bookkeeping, so one timer looks after all of them.
 */
export function createDeadlines<T>(onDeadline: (item: T) => void) {
  const ends = new Map<T, number>()
  let timer: NodeJS.Timeout | undefined
  let planned = Infinity

  function plan(at: number): void {
    if (at >= planned) return
    clearTimeout(timer)
    planned = at
    timer = setTimeout(look, Math.max(0, at - performance.now())).unref()
  }

  function look(): void {
    planned = Infinity
    const now = performance.now()
    let next = Infinity
    for (const [item, at] of ends)
      if (at <= now) {
        ends.delete(item)
        onDeadline(item)
      } else next = Math.min(next, at)
    if (next < Infinity) plan(next)
  }

  return {
    add(item: T, ms: number): void {
      const at = performance.now() + ms
      ends.set(item, at)
      plan(at)
    },
    delete: (item: T) => void ends.delete(item),
  }
}
