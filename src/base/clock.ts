/** Milliseconds since the epoch. Passed down as a value, so tests can move time. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** Refuse calls when the clock moves back by more than this (A11). */
export const maxClockStepMs = 5 * 60_000

/**
 * Detects a clock that moved back too far: expired records would become valid again, and new decisions would be dated
 * before old ones. The function returns the newest time seen while the clock is that far behind it.
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
