import { rfc3339 } from '#base/clock.ts'
import { usage } from './exit.ts'

/** How long a call is allowed for, as `cowork_decide` takes it (Y8). */
export type Allowance =
  | { readonly for: 'once' | 'session' | 'always' }
  | { readonly for: 'uses'; readonly uses: number }
  | { readonly for: 'until'; readonly until: string }

const unit: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const day = /^\d{4}-\d\d-\d\d$/
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/

/** `once`, `session`, `always`, `uses:3`, `until:2h` or `until:2026-03-01T18:00`. */
export function allowanceOf(text: string, now: number): Allowance {
  if (text === 'once' || text === 'session' || text === 'always') return { for: text }
  const [, uses] = /^uses:([1-9]\d{0,3})$/.exec(text) ?? []
  if (uses !== undefined) return { for: 'uses', uses: Number(uses) }
  const [, until = ''] = /^until:(.+)$/.exec(text) ?? []
  const at = momentOf(until, now)
  if (Number.isNaN(at))
    throw usage(
      `--allow cannot be ${JSON.stringify(text)}.`,
      'It is once, session, always, uses:<n> or until:<time>, such as until:2h or until:2026-03-01T18:00.',
    )
  if (at <= now) throw usage(`${until} is over.`, 'Name a time to come.')
  return { for: 'until', until: rfc3339(at) }
}

/** A span from now, a moment, or a day, which is meant to its end; NaN for what is none. */
export function momentOf(text: string, now: number): number {
  const [, count, name = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  if (count !== undefined) return now + Number(count) * (unit[name] ?? NaN)
  const whole = day.test(text) ? `${text}T23:59:59` : text
  return moment.test(whole) ? Date.parse(whole) : NaN
}
