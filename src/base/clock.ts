/** Milliseconds since the epoch. Passed down as a value, so tests can move time. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

export const rfc3339 = (at: number): string => new Date(at).toISOString()
