/** Milliseconds since the epoch. Passed down as a value, so tests can move time. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** A clock that went back this far is wrong, and so would be everything it dates (A11). */
export const maxClockStepMs = 5 * 60_000

/**
 * Watches whether the clock goes back too far: expired things would live again, and what is decided next
 * would come before what was decided last. Gives the newest time seen while it is behind that.
 */
export function createClockMonitor(now: Clock, lastAt: number): () => number | undefined {
  let newest = lastAt
  return () => {
    const at = now()
    newest = Math.max(newest, at)
    return newest - at > maxClockStepMs ? newest : undefined
  }
}

export const formatRfc3339 = (at: number): string => new Date(at).toISOString()
