export type SnoozeMap = Readonly<Record<string, number>>

const hour = 3_600_000
const morning = 9

export const inAnHour = (now: number): number => now + hour

export function tomorrow(now: number): number {
  const next = new Date(now)
  next.setDate(next.getDate() + 1)
  return next.setHours(morning, 0, 0, 0)
}

/** Removes snoozes that have ended. */
export const activeSnoozes = (snoozed: SnoozeMap, now: number): SnoozeMap =>
  Object.fromEntries(Object.entries(snoozed).filter(([, until]) => until > now))

export const nextSnoozeEnd = (snoozed: SnoozeMap): number | undefined => {
  const times = Object.values(snoozed)
  return times.length > 0 ? Math.min(...times) : undefined
}

/** Parses stored snoozes and ignores invalid values. */
export function parseSnoozes(text: string | null): SnoozeMap {
  try {
    const stored: unknown = JSON.parse(text ?? '{}')
    if (typeof stored !== 'object' || stored === null) return {}
    return Object.fromEntries(
      Object.entries(stored).filter(
        (pair): pair is [string, number] => typeof pair[1] === 'number',
      ),
    )
  } catch {
    return {}
  }
}
