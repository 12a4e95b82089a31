import { sanitizeText } from '../shared/sanitize.ts'
import type { PermissionInput } from './approval.ts'

const maxPatternLength = 1000

/** Returns the arguments of a call as editable patterns; an unchanged pattern matches only its value. */
export function toPatterns(args: unknown): Record<string, string> {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return {}
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : sortedJson(value),
    ]),
  )
}

/** Sorts the keys: the daemon matches patterns against canonical JSON. */
const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? ''

export type AllowForm = {
  readonly for: PermissionInput['for']
  readonly uses: string
  /** The value of a `datetime-local` field. */
  readonly until: string
  readonly patterns: Readonly<Record<string, string>>
}

/** Parses the form. Only changed values are patterns, so a `*` written by the agent is not one. */
export function parseAllowForm(
  form: AllowForm,
  exact: Readonly<Record<string, string>>,
  now: number,
): { allow: PermissionInput } | { lacks: string } {
  const { for: duration, patterns } = form
  if (duration === 'once') return { allow: { for: duration } }
  const changed = Object.entries(patterns).filter(([name, text]) => text !== exact[name])
  const [tooLong] = changed.find(([, text]) => text.length > maxPatternLength) ?? []
  if (tooLong !== undefined)
    return { lacks: `“${sanitizeText(tooLong)}” is too long. Shorten it with *.` }
  const args =
    changed.length === 0 ? {} : { arguments: Object.fromEntries(changed), rest: 'exact' as const }
  if (duration === 'uses') {
    const uses = Number(form.uses)
    if (!Number.isInteger(uses) || uses < 1 || uses > 1000)
      return { lacks: 'Enter a number from 1 to 1000.' }
    return { allow: { for: duration, uses, ...args } }
  }
  if (duration === 'until') {
    const until = Date.parse(form.until)
    if (Number.isNaN(until) || until <= now) return { lacks: 'Choose a time in the future.' }
    return { allow: { for: duration, until: new Date(until).toISOString(), ...args } }
  }
  return { allow: { for: duration, ...args } }
}

export const isExact = (
  patterns: Readonly<Record<string, string>>,
  exact: Readonly<Record<string, string>>,
): boolean => Object.keys(exact).every((name) => patterns[name] === exact[name])

const durationFormats: Record<PermissionInput['for'], (form: AllowForm) => string> = {
  once: () => 'once',
  uses: ({ uses }) => `${uses || '…'} times`,
  session: () => 'until its session ends',
  until: ({ until }) => `until ${until.replace('T', ' ') || '…'}`,
  always: () => 'until you revoke it',
}

/** Formats the duration of the permission. */
export const formatAllowance = (form: AllowForm): string => durationFormats[form.for](form)
