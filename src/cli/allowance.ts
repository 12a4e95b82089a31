import { rfc3339 } from '#base/clock.ts'
import type { Detail } from './approvals.ts'
import { grantChoices } from './choices.ts'
import type { GrantWord } from './choices.ts'
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
function momentOf(text: string, now: number): number {
  const [, count, name = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  if (count !== undefined) return now + Number(count) * (unit[name] ?? NaN)
  const whole = day.test(text) ? `${text}T23:59:59` : text
  return moment.test(whole) ? Date.parse(whole) : NaN
}

/** How a person answers a request for access, as `cowork_decide` takes it (GR3). */
export type GrantChoice =
  | { readonly choice: GrantWord | 'deny_always' }
  | { readonly choice: 'until'; readonly until: string }

/** What each of them opens, in words; the console has the same. */
export const choiceLabels: Readonly<Record<GrantWord | 'until', string>> = {
  file_once: 'Allow this file once (read, this session)',
  file: 'Allow this file (read)',
  folder_session: 'Allow folder this session (read)',
  until: 'Allow until…',
  folder: 'Allow folder (read)',
  folder_write: 'Allow folder (read-write)',
}

/** `file_once`, `file`, `folder`, `folder_write`, `folder_session` or `until:<time>`; a dash does as well. */
export function grantChoiceOf(text: string, now: number): GrantChoice {
  const word = grantChoices.find((one) => one === text.replaceAll('-', '_'))
  if (word) return { choice: word }
  const [, until] = /^until:(.+)$/.exec(text) ?? []
  if (until === undefined)
    throw usage(
      `--allow cannot be ${JSON.stringify(text)} for a request for access.`,
      `It is ${grantChoices.map((one) => one.replaceAll('_', '-')).join(', ')} or until:<time>, such as until:2h.`,
    )
  return untilOf(until, now)
}

/** `2h`, or a moment to come. */
export function untilOf(text: string, now: number): GrantChoice {
  const at = momentOf(text, now)
  if (Number.isNaN(at))
    throw usage(
      `${JSON.stringify(text)} is no time.`,
      'Write a span such as 2h or 7d, a day such as 2027-03-01, or 2027-03-01T18:00.',
    )
  if (at <= now) throw usage(`${text} is over.`, 'Name a time to come.')
  return { choice: 'until', until: rfc3339(at) }
}

/** What may be chosen for this request, the narrowest first. Of what was not there only the folder around it. */
export function choicesFor({ grant }: Pick<Detail, 'grant'>): (GrantWord | 'until')[] {
  if (!grant) return []
  const { is_folder: isFolder, missing, folder } = grant
  return [
    ...(isFolder || missing ? [] : (['file_once', 'file'] as const)),
    ...(folder === null ? [] : (['folder_session'] as const)),
    ...(missing ? [] : (['until'] as const)),
    ...(folder === null ? [] : (['folder', 'folder_write'] as const)),
  ]
}
