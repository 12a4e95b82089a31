import { RE2JS } from 're2js'
import * as z from 'zod'

/**
 * The types of settings. Each has a description of the expected value, which error messages show. The `x-` marks tell
 * the loader which strings are paths and which are secrets; the published JSON Schema contains them.
 */

const describeRange = (what: string, min: number, max?: number) =>
  max === undefined ? `${what} of at least ${min}` : `${what} from ${min} to ${max}`

export function integer(min: number, max?: number) {
  const expected = describeRange('an integer', min, max)
  const kind = z.int(expected).min(min, expected)
  return max === undefined ? kind : kind.max(max, expected)
}

export function decimal(min: number, max?: number) {
  const expected = describeRange('a number', min, max)
  const kind = z.number(expected).min(min, expected)
  return max === undefined ? kind : kind.max(max, expected)
}

export const ratio = decimal(0, 1)

export const port = integer(0, 65_535)

export const nonEmptyString = (expected: string, form: RegExp = /\S/) =>
  z.string(expected).regex(form, expected)

export const trimmedName = nonEmptyString(
  'a name without control characters or spaces at the start or end',
  /^(?!\s)[^\p{Cc}]+(?<!\s)$/u,
)

/** A path. `~/` is the home folder; a relative path is relative to the folder of the configuration file. */
export const filePath = nonEmptyString(
  'a path (~name of another user is not supported)',
  /^(?!~[^/\\])[^\0]+$/,
).meta({
  'x-path': true,
})

/** A value or a reference: `env:NAME`, `file:path`, `op://vault/item/field`, `keychain:name`, `cmd:…` (I8). */
export const secretText = nonEmptyString('a string or a reference such as env:NAME').meta({
  'x-secret': true,
})

export const isReference = (value: string): boolean =>
  /^(env:|file:|keychain:|cmd:|op:\/\/)/.test(value)

export const isPostgresUrl = (value: string): boolean => /^postgres(ql)?:\/\/\S+$/.test(value)

const unitMilliseconds: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}
const durationForm = /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d|w)?$/
const durationExpected = 'a duration such as 500ms, 30s, 10m, 1h or 7d (a bare number is seconds)'

/** Parses `10m` to milliseconds. */
export const duration = z
  .union(
    [
      z.number(durationExpected).min(0, durationExpected),
      nonEmptyString(durationExpected, durationForm),
    ],
    durationExpected,
  )
  .transform((value) => {
    const [, count, unit = 's'] = durationForm.exec(String(value)) ?? []
    return Math.round(Number(count ?? value) * (unitMilliseconds[unit] ?? 1000))
  })

export const httpUrl = nonEmptyString('an http:// or https:// URL', /^https?:\/\/[^\s/]+\S*$/)

const cronForm = /^(@\w+|\S+( +\S+){4,5})$/
export const cron = nonEmptyString('a cron expression such as "0 2 * * *"', cronForm)

export const timeOfDay = nonEmptyString('a time of day such as 22:00', /^([01]\d|2[0-3]):[0-5]\d$/)

/** A pattern that the linear-time engine accepts, so that hostile patterns cannot block the process (Y2, PV7). */
export const regexPattern = nonEmptyString('a regular expression').refine(compiles, {
  error: 'is not a regular expression in RE2 syntax (no lookaround, no backreferences)',
})

function compiles(source: string): boolean {
  try {
    RE2JS.compile(source)
    return true
  } catch {
    return false
  }
}
