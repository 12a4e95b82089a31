import { CoworkError } from '#base/errors.ts'

const maxGlobLength = 512
const maxAlternatives = 64

export type PathMatcher = (path: string) => boolean

export const isPathGlob = (text: string): boolean => /[*?]|\{[^{}]*,[^{}]*\}/.test(text)

/**
 * Compiles globs over paths: `**` for any folders, `*` and `?` within a name, `{a,b}` for alternatives. No pattern
 * can hang the process (PV7): only the last star is retried, so the work is at most length × length. A path matches
 * if any of several patterns does; it is split once for all of them.
 */
export function compilePathGlob(
  pattern: string | readonly string[],
  fold = (text: string) => text,
): PathMatcher {
  const patterns = typeof pattern === 'string' ? [pattern] : pattern
  if (patterns.some(({ length }) => length > maxGlobLength))
    throw invalidGlobError(`is longer than ${maxGlobLength} characters`)
  const all = patterns.flatMap((text) => expandBraces(fold(text)))
  const compiled = [...new Set(all)].map((text) => split(text).map(compileName))
  return (path) => {
    const names = split(fold(path))
    return compiled.some((globs) => matches(globs, names, isAnyFolders, matchesName))
  }
}

/** Drops empty names, so that `/a//b/` equals `a/b`. */
const split = (path: string): readonly string[] => path.split('/').filter((name) => name !== '')

const braces = /\{([^{},]*(?:,[^{},]*)+)\}/

/** Expands the innermost braces first. Each round creates more patterns, up to the limit. */
function expandBraces(pattern: string): readonly string[] {
  let pending = [pattern]
  const done: string[] = []
  while (pending.length > 0) {
    if (pending.length + done.length > maxAlternatives)
      throw invalidGlobError(`has more than ${maxAlternatives} alternatives in braces`)
    pending = pending.flatMap((text) => {
      const match = braces.exec(text)
      if (!match) {
        done.push(text)
        return []
      }
      const [whole, inner = ''] = match
      const before = text.slice(0, match.index)
      const after = text.slice(match.index + whole.length)
      return inner.split(',').map((choice) => before + choice + after)
    })
  }
  return done
}

/** `**`, or a matcher for one name. */
type NameGlob = typeof anyFolders | ((name: string) => boolean)
const anyFolders = Symbol('any folders')
const isAnyFolders = (glob: NameGlob) => glob === anyFolders
const matchesName = (glob: NameGlob, name: string) => glob !== anyFolders && glob(name)

function compileName(glob: string): NameGlob {
  if (glob === '**') return anyFolders
  if (!/[*?]/.test(glob)) return (name) => name === glob
  const chars = [...glob]
  // A fast filter: most names lack a literal part of the glob.
  const literals = glob.split(/[*?]+/)
  return (name) =>
    literals.every((literal) => name.includes(literal)) &&
    matches(chars, [...name], isStar, matchesChar)
}

const isStar = (char: string) => char === '*'
const matchesChar = (globChar: string, char: string) => globChar === '?' || globChar === char

/** Matches names of a path and characters of a name alike. */
function matches<Glob>(
  globs: readonly Glob[],
  parts: readonly string[],
  isWildcard: (glob: Glob) => boolean,
  matchesPart: (glob: Glob, part: string) => boolean,
): boolean {
  let globIndex = 0
  let partIndex = 0
  let star = -1
  let starPart = 0
  while (partIndex < parts.length) {
    const glob = globs[globIndex]
    const part = parts[partIndex] ?? ''
    if (glob !== undefined && isWildcard(glob)) {
      star = globIndex++
      starPart = partIndex
    } else if (glob !== undefined && matchesPart(glob, part)) {
      globIndex++
      partIndex++
    } else if (star >= 0) {
      globIndex = star + 1
      partIndex = ++starPart
    } else return false
  }
  return globs.slice(globIndex).every(isWildcard)
}

const invalidGlobError = (reason: string) =>
  new CoworkError('invalid_glob', `The pattern ${reason}.`, { hint: 'Use a simpler pattern.' })
