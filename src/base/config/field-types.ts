import { RE2JS } from 're2js'
import * as z from 'zod'

/**
 * The kinds of value a setting can have. Each says what it expects in words, because that text is
 * what a person reads in a refusal. The `x-` marks reach the published JSON Schema and are how the
 * loader knows which texts are paths and which are secrets.
 */

const between = (what: string, min: number, max?: number) =>
  max === undefined ? `${what} of at least ${min}` : `${what} from ${min} to ${max}`

export function integer(min: number, max?: number) {
  const expected = between('a whole number', min, max)
  const kind = z.int(expected).min(min, expected)
  return max === undefined ? kind : kind.max(max, expected)
}

export function decimal(min: number, max?: number) {
  const expected = between('a number', min, max)
  const kind = z.number(expected).min(min, expected)
  return max === undefined ? kind : kind.max(max, expected)
}

export const ratio = decimal(0, 1)

export const port = integer(0, 65_535)

export const nonEmptyString = (expected: string, form: RegExp = /\S/) =>
  z.string(expected).regex(form, expected)

export const trimmedName = nonEmptyString(
  'a name without spaces at its ends or control characters',
  /^(?!\s)[^\p{Cc}]+(?<!\s)$/u,
)

/** `~/` is the home folder; a relative path counts from the folder of the file it stands in. */
export const filePath = nonEmptyString(
  'a path (another user’s ~name is not understood)',
  /^(?!~[^/\\])[^\0]+$/,
).meta({
  'x-path': true,
})

/** A value, or where to find it: `env:NAME`, `file:path`, `op://vault/item/field`, `keychain:name`, `cmd:…` (I8). */
export const secretText = nonEmptyString('a text or a reference such as env:NAME').meta({
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

/** Written `10m`, read as milliseconds. */
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

export const httpUrl = nonEmptyString('an http:// or https:// address', /^https?:\/\/[^\s/]+\S*$/)

const cronForm = /^(@\w+|\S+( +\S+){4,5})$/
export const cron = nonEmptyString('a cron line of five fields such as "0 2 * * *"', cronForm)

export const timeOfDay = nonEmptyString('a time of day such as 22:00', /^([01]\d|2[0-3]):[0-5]\d$/)

/** Compiled by the linear engine that will run it, so a pattern from outside can never hang us (Y2, PV7). */
export const regexPattern = nonEmptyString('a regular expression').refine(compiles, {
  error: 'is not a regular expression in RE2 syntax (no look-around, no back-references)',
})

function compiles(source: string): boolean {
  try {
    RE2JS.compile(source)
    return true
  } catch {
    return false
  }
}
