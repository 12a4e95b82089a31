const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })
const shortClock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', hourCycle: 'h23' })
const full = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'full',
  timeStyle: 'medium',
  hourCycle: 'h23',
})
const date = new Intl.DateTimeFormat(undefined, {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
})
const brief = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
})

const toTheMinute = {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
} as const
const moment = new Intl.DateTimeFormat(undefined, toTheMinute)
const exactMoment = new Intl.DateTimeFormat(undefined, { ...toTheMinute, second: '2-digit' })
const dayOfMonth = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })

/** `12 Nov, 14:03`, `12 Nov, 14:03:25`, and `12 Nov`. */
export const formatDateTime = (at: number): string => moment.format(at)
export const dateTimeSeconds = (at: number): string => exactMoment.format(at)
export const shortDate = (at: number): string => dayOfMonth.format(at)

export const clockTime = (at: number): string => clock.format(at)
export const shortTime = (at: number): string => shortClock.format(at)
export const fullTime = (at: number): string => full.format(at)

/** Returns the local day as a sortable key: 2026-11-15. */
export function toDayKey(at: number): string {
  const local = new Date(at)
  const pad = (n: number) => String(n).padStart(2, '0')
  return `${local.getFullYear()}-${pad(local.getMonth() + 1)}-${pad(local.getDate())}`
}

export function formatDay(at: number, now: number): string {
  if (toDayKey(at) === toDayKey(now)) return 'Today'
  return toDayKey(at) === toDayKey(now - day) ? 'Yesterday' : date.format(at)
}

export function formatAgo(at: number, now: number): string {
  const elapsed = now - at
  if (elapsed < minute) return 'just now'
  if (elapsed < hour) return `${Math.floor(elapsed / minute)} min ago`
  if (elapsed < day) return `${Math.floor(elapsed / hour)} h ago`
  return elapsed < 7 * day ? `${Math.floor(elapsed / day)} d ago` : brief.format(at)
}

export function formatTimeLeft(at: number, now: number): string {
  const remaining = at - now
  if (remaining <= 0) return 'expired'
  if (remaining < hour) return `${Math.max(1, Math.round(remaining / minute))} min`
  return remaining < 2 * day
    ? `${Math.round(remaining / hour)} h`
    : `${Math.round(remaining / day)} days`
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms} ms`
  return ms < minute ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / minute)} min`
}
