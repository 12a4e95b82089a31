import { matchesGlob } from '#base/glob.ts'
import { canonicalJson } from '#base/hash.ts'

/** Which calls a permission is for (Y8). Pure, given how a value is recognized. */

/** Recognizes the value of an argument without storing it (A14). */
export type Fingerprint = (name: string, value: unknown) => string

export type Arguments = Readonly<Record<string, unknown>>
type Globs = Readonly<Record<string, string>>

/** What a person says of the arguments: globs for some, and of those not named whether they may change. */
export type ArgumentScope = {
  readonly arguments?: Globs | undefined
  readonly rest?: 'free' | 'exact' | undefined
}

/** An argument that none of the three names must be absent. */
export type Pattern = {
  /** Fingerprints of values that must be as they were approved. */
  readonly exact: Readonly<Record<string, string>>
  readonly globs: Globs
  readonly free: readonly string[] | 'all'
}

/** For calls like the approved one; without globs for exactly those arguments. */
export function buildPattern(
  args: Arguments,
  { arguments: globs, rest = 'free' }: ArgumentScope,
  fingerprint: Fingerprint,
): Pattern {
  if (!globs) return { exact: fingerprints(args, fingerprint), globs: {}, free: [] }
  const others = Object.entries(args).filter(([name]) => !Object.hasOwn(globs, name))
  return rest === 'exact'
    ? { exact: fingerprints(Object.fromEntries(others), fingerprint), globs, free: [] }
    : { exact: {}, globs, free: others.map(([name]) => name) }
}

export const patternText = ({ exact, globs, free }: Pattern): string =>
  JSON.stringify({ fingerprints: exact, globs, free })

/** Whether the text is of an earlier version, which stored values: as an object, or all of them as one text. */
export const holdsValues = (text: string | null): boolean => Object.hasOwn(parsed(text), 'exact')

export function parsePattern(text: string | null, fingerprint: Fingerprint): Pattern {
  const { exact, fingerprints: known, globs = {}, free = 'all' } = parsed(text)
  if (typeof exact === 'string') {
    const args = JSON.parse(exact) as Arguments
    return { exact: fingerprints(args, fingerprint), globs: {}, free: [] }
  }
  return { exact: known ?? fingerprints(exact ?? {}, fingerprint), globs, free }
}

type Stored = Partial<Omit<Pattern, 'exact'>> & {
  readonly exact?: Arguments | string
  readonly fingerprints?: Pattern['exact']
}

const parsed = (text: string | null) => JSON.parse(text ?? '{}') as Stored

const fingerprints = (args: Arguments, fingerprint: Fingerprint): Pattern['exact'] =>
  Object.fromEntries(
    Object.entries(args)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, fingerprint(name, value)]),
  )

/** Climbing out of a folder never fits a glob. */
export function matchesPattern(
  { exact, globs, free }: Pattern,
  args: Arguments,
  fingerprint: Fingerprint,
): boolean {
  const isNamed = (name: string) =>
    free === 'all' ||
    free.includes(name) ||
    Object.hasOwn(exact, name) ||
    Object.hasOwn(globs, name)
  const of = (name: string) => (Object.hasOwn(args, name) ? args[name] : undefined)
  return (
    Object.keys(args).every((name) => of(name) === undefined || isNamed(name)) &&
    Object.entries(exact).every(
      ([name, known]) => of(name) !== undefined && fingerprint(name, of(name)) === known,
    ) &&
    Object.entries(globs).every(([name, glob]) => fitsGlob(glob, of(name)))
  )
}

function fitsGlob(glob: string, value: unknown): boolean {
  const text = typeof value === 'string' ? value : value === undefined ? '' : canonicalJson(value)
  const climbs = glob.includes('*') && /(^|[/\\])\.\.([/\\]|$)/.test(text)
  return !climbs && matchesGlob(glob, text)
}

/** As people read it: a glob for each argument that may change, and the names of those that may not. */
export function describePattern({ exact, globs, free }: Pattern) {
  const names = free === 'all' ? [] : free
  const open = { ...globs, ...Object.fromEntries(names.map((name) => [name, '*'])) }
  const isExact = free !== 'all' && Object.keys(open).length === 0
  return { arguments: isExact ? null : open, exact: Object.keys(exact) }
}
