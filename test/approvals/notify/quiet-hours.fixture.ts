import { endOfQuietHours } from '../../../src/approvals/notify/schedule.ts'

const minute = 60_000
const hour = 60 * minute

/** Returns the times of a year, in the process's time zone, with wrong quiet hours. */
export function findQuietHourErrors(): string[] {
  const wrong: string[] = []
  const clock = (at: number) => new Date(at).toTimeString().slice(0, 5)
  for (const [from, to] of [
    ['22:00', '07:00'],
    ['23:30', '02:30'],
    ['01:15', '02:45'],
    ['02:30', '01:30'],
  ] as const)
    for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += 15 * minute) {
      const quiet = { from, to, except_high_risk: false }
      const awake = endOfQuietHours(at, 'low', quiet)
      const isQuiet = (time: string) =>
        from < to ? time >= from && time < to : time >= from || time < to
      const isWrong =
        awake < at ||
        awake > at + 25 * hour ||
        isQuiet(clock(awake)) ||
        awake > at !== isQuiet(clock(at)) ||
        endOfQuietHours(awake, 'low', quiet) !== awake
      if (isWrong) wrong.push(`${from}-${to} ${new Date(at).toString()}`)
    }
  return wrong
}
