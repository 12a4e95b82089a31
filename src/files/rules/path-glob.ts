import { CoworkError } from '#base/errors.ts'

const maxGlobLength = 512
const maxAlternatives = 64

export type PathMatcher = (path: string) => boolean

export const isPathGlob = (text: string): boolean => /[*?]|\{[^{}]*,[^{}]*\}/.test(text)

/**
 * Globs over paths: `**` for any folders, `*` and `?` within a name, `{a,b}` for either. No pattern can hang
 * us (PV7): a star is tried again from its last place only, so the work is at most length × length. Of several
 * any will do; a path is taken apart once for all of them.
 */
export function compilePathGlob(
  pattern: string | readonly string[],
  fold = (text: string) => text,
): PathMatcher {
  const patterns = typeof pattern === 'string' ? [pattern] : pattern
  if (patterns.some(({ length }) => length > maxGlobLength))
    throw invalidGlobError(`is longer than ${maxGlobLength} characters`)
  const all = patterns.flatMap((one) => expandBraces(fold(one)))
  const compiled = [...new Set(all)].map((one) => split(one).map(compileName))
  return (path) => {
    const names = split(fold(path))
    return compiled.some((globs) => matches(globs, names, isAnyFolders, matchesName))
  }
}

/** Empty names go, so that `/a//b/` and `a/b` are the same. */
const split = (path: string): readonly string[] => path.split('/').filter((name) => name !== '')

const braces = /\{([^{},]*(?:,[^{},]*)+)\}/

/** The innermost braces first, until there are none; each round makes more patterns, up to the limit. */
function expandBraces(pattern: string): readonly string[] {
  let open = [pattern]
  const done: string[] = []
  while (open.length > 0) {
    if (open.length + done.length > maxAlternatives)
      throw invalidGlobError(`has more than ${maxAlternatives} alternatives in braces`)
    open = open.flatMap((one) => {
      const found = braces.exec(one)
      if (!found) {
        done.push(one)
        return []
      }
      const [whole, inner = ''] = found
      const before = one.slice(0, found.index)
      const after = one.slice(found.index + whole.length)
      return inner.split(',').map((choice) => before + choice + after)
    })
  }
  return done
}

/** `**`, or what one name must be like. */
type NameGlob = typeof anyFolders | ((name: string) => boolean)
const anyFolders = Symbol('any folders')
const isAnyFolders = (glob: NameGlob) => glob === anyFolders
const matchesName = (glob: NameGlob, name: string) => glob !== anyFolders && glob(name)

function compileName(glob: string): NameGlob {
  if (glob === '**') return anyFolders
  if (!/[*?]/.test(glob)) return (name) => name === glob
  const chars = [...glob]
  // Most names lack some letters that the glob spells out, which is found out fast.
  const literals = glob.split(/[*?]+/)
  return (name) =>
    literals.every((literal) => name.includes(literal)) &&
    matches(chars, [...name], isStar, matchesChar)
}

const isStar = (char: string) => char === '*'
const matchesChar = (one: string, char: string) => one === '?' || one === char

/** The same walk for names in a path and for characters in a name. */
function matches<Glob>(
  globs: readonly Glob[],
  parts: readonly string[],
  isWildcard: (glob: Glob) => boolean,
  matchesPart: (glob: Glob, part: string) => boolean,
): boolean {
  let at = 0
  let from = 0
  let star = -1
  let starFrom = 0
  while (from < parts.length) {
    const glob = globs[at]
    const part = parts[from] ?? ''
    if (glob !== undefined && isWildcard(glob)) {
      star = at++
      starFrom = from
    } else if (glob !== undefined && matchesPart(glob, part)) {
      at++
      from++
    } else if (star >= 0) {
      at = star + 1
      from = ++starFrom
    } else return false
  }
  return globs.slice(at).every(isWildcard)
}

const invalidGlobError = (why: string) =>
  new CoworkError('invalid_glob', `The pattern ${why}.`, { hint: 'Write a simpler one.' })
