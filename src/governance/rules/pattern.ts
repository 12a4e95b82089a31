import { globMatches } from '#base/glob.ts'
import { canonicalJson } from '#base/hash.ts'

/** Which calls a permission is for (Y8). Pure. */

export type Arguments = Readonly<Record<string, unknown>>
type Globs = Readonly<Record<string, string>>

/** What a person says of the arguments: globs for some, and of those not named whether they may change. */
export type Reach = {
  readonly arguments?: Globs | undefined
  readonly rest?: 'free' | 'exact' | undefined
}

/** An argument that none of the three names must be absent. */
export type Pattern = {
  /** As they were approved: a `*` in one is a letter. */
  readonly exact: Arguments
  readonly globs: Globs
  readonly free: readonly string[] | 'all'
}

/** For calls like the approved one; without globs for exactly those arguments. */
export function patternFor(args: Arguments, { arguments: globs, rest = 'free' }: Reach): Pattern {
  if (!globs) return { exact: args, globs: {}, free: [] }
  const others = Object.entries(args).filter(([name]) => !Object.hasOwn(globs, name))
  return rest === 'exact'
    ? { exact: Object.fromEntries(others), globs, free: [] }
    : { exact: {}, globs, free: others.map(([name]) => name) }
}

/** As it is stored. Before there were three parts, it was all arguments as one text, or globs alone. */
export function readPattern(text: string | null): Pattern {
  const { exact = {}, globs = {}, free = 'all' } = JSON.parse(text ?? '{}') as Stored
  if (typeof exact === 'string')
    return { exact: JSON.parse(exact) as Arguments, globs: {}, free: [] }
  return { exact, globs, free }
}

type Stored = Partial<Omit<Pattern, 'exact'>> & { readonly exact?: Arguments | string }

/** Climbing out of a folder never fits a glob. */
export function fits({ exact, globs, free }: Pattern, args: Arguments): boolean {
  const isNamed = (name: string) =>
    free === 'all' ||
    free.includes(name) ||
    Object.hasOwn(exact, name) ||
    Object.hasOwn(globs, name)
  const of = (name: string) => (Object.hasOwn(args, name) ? args[name] : undefined)
  return (
    Object.keys(args).every((name) => of(name) === undefined || isNamed(name)) &&
    Object.entries(exact).every(([name, value]) => isSame(value, of(name))) &&
    Object.entries(globs).every(([name, glob]) => fitsGlob(glob, of(name)))
  )
}

const isSame = (value: unknown, other: unknown) =>
  other !== undefined && canonicalJson(value) === canonicalJson(other)

function fitsGlob(glob: string, value: unknown): boolean {
  const text = typeof value === 'string' ? value : value === undefined ? '' : canonicalJson(value)
  const climbs = glob.includes('*') && /(^|[/\\])\.\.([/\\]|$)/.test(text)
  return !climbs && globMatches(glob, text)
}

/** As people read it: a glob for each argument that may change, and the names of those that may not. */
export function shownPattern({ exact, globs, free }: Pattern) {
  const names = free === 'all' ? [] : free
  const open = { ...globs, ...Object.fromEntries(names.map((name) => [name, '*'])) }
  const isExact = free !== 'all' && Object.keys(open).length === 0
  return { arguments: isExact ? null : open, exact: Object.keys(exact) }
}
