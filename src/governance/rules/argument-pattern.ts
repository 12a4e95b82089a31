import { matchesGlob } from '#base/glob.ts'
import { canonicalJson } from '#base/hash.ts'

/** Matches calls with standing permissions (Y8). Pure, given a fingerprint function. */

/** Identifies the value of an argument without storing it (A14). */
export type Fingerprint = (name: string, value: unknown) => string

export type Arguments = Readonly<Record<string, unknown>>
type Globs = Readonly<Record<string, string>>

/** The arguments that a person allows: globs for some, and whether the others may change. */
export type ArgumentScope = {
  readonly arguments?: Globs | undefined
  readonly rest?: 'free' | 'exact' | undefined
}

/** An argument in none of the three parts must be absent. */
export type Pattern = {
  /** Fingerprints of values that must equal the approved ones. */
  readonly exact: Readonly<Record<string, string>>
  readonly globs: Globs
  readonly free: readonly string[] | 'all'
}

/** Builds the pattern for calls like the approved one; without globs, for exactly its arguments. */
export function buildPattern(
  args: Arguments,
  { arguments: globs, rest = 'free' }: ArgumentScope,
  fingerprint: Fingerprint,
): Pattern {
  if (!globs) return { exact: fingerprintAll(args, fingerprint), globs: {}, free: [] }
  const others = Object.entries(args).filter(([name]) => !Object.hasOwn(globs, name))
  return rest === 'exact'
    ? { exact: fingerprintAll(Object.fromEntries(others), fingerprint), globs, free: [] }
    : { exact: {}, globs, free: others.map(([name]) => name) }
}

export const formatPattern = ({ exact, globs, free }: Pattern): string =>
  JSON.stringify({ fingerprints: exact, globs, free })

/** True for the text of an earlier version, which stored values: as an object, or all as one text. */
export const containsValues = (text: string | null): boolean =>
  Object.hasOwn(parseStored(text), 'exact')

export function parsePattern(text: string | null, fingerprint: Fingerprint): Pattern {
  const { exact, fingerprints: known, globs = {}, free = 'all' } = parseStored(text)
  if (typeof exact === 'string') {
    const args = JSON.parse(exact) as Arguments
    return { exact: fingerprintAll(args, fingerprint), globs: {}, free: [] }
  }
  return { exact: known ?? fingerprintAll(exact ?? {}, fingerprint), globs, free }
}

type StoredPattern = Partial<Omit<Pattern, 'exact'>> & {
  readonly exact?: Arguments | string
  readonly fingerprints?: Pattern['exact']
}

const parseStored = (text: string | null) => JSON.parse(text ?? '{}') as StoredPattern

const fingerprintAll = (args: Arguments, fingerprint: Fingerprint): Pattern['exact'] =>
  Object.fromEntries(
    Object.entries(args)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, fingerprint(name, value)]),
  )

/** A path that climbs out of a folder never matches a glob. */
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
  const valueOf = (name: string) => (Object.hasOwn(args, name) ? args[name] : undefined)
  return (
    Object.keys(args).every((name) => valueOf(name) === undefined || isNamed(name)) &&
    Object.entries(exact).every(
      ([name, known]) => valueOf(name) !== undefined && fingerprint(name, valueOf(name)) === known,
    ) &&
    Object.entries(globs).every(([name, glob]) => matchesValue(glob, valueOf(name)))
  )
}

function matchesValue(glob: string, value: unknown): boolean {
  const text = typeof value === 'string' ? value : value === undefined ? '' : canonicalJson(value)
  const climbs = glob.includes('*') && /(^|[/\\])\.\.([/\\]|$)/.test(text)
  return !climbs && matchesGlob(glob, text)
}

/** Describes a pattern for people: a glob per variable argument, and the names of the fixed ones. */
export function describePattern({ exact, globs, free }: Pattern) {
  const names = free === 'all' ? [] : free
  const open = { ...globs, ...Object.fromEntries(names.map((name) => [name, '*'])) }
  const isExact = free !== 'all' && Object.keys(open).length === 0
  return { arguments: isExact ? null : open, exact: Object.keys(exact) }
}
