/**
 * Matches a glob with `*` only (any characters) in linear time. Patterns come from the configuration and from agents,
 * and backtracking matchers hang on hostile patterns.
 */
export const matchesGlob = (pattern: string, text: string): boolean =>
  pattern.includes('*') ? matchesParts(pattern.split('*'), text) : pattern === text

/** Compiles a pattern that is matched against many texts. */
export function compileGlob(pattern: string): (text: string) => boolean {
  if (!pattern.includes('*')) return (text) => text === pattern
  const parts = pattern.split('*')
  return (text) => matchesParts(parts, text)
}

function matchesParts(parts: readonly string[], text: string): boolean {
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  if (text.length < first.length + last.length) return false
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  const end = text.length - last.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** Returns whether some text matches both globs. */
export function globsOverlap(a: string, b: string): boolean {
  if (!a.includes('*')) return matchesGlob(b, a)
  if (!b.includes('*')) return matchesGlob(a, b)
  // Each `*` can match the middle of the other glob, so only the ends can conflict.
  const [startOfA, startOfB] = [a.slice(0, a.indexOf('*')), b.slice(0, b.indexOf('*'))]
  const [endOfA, endOfB] = [a.slice(a.lastIndexOf('*') + 1), b.slice(b.lastIndexOf('*') + 1)]
  return (
    (startOfA.startsWith(startOfB) || startOfB.startsWith(startOfA)) &&
    (endOfA.endsWith(endOfB) || endOfB.endsWith(endOfA))
  )
}

/**
 * Returns the specificity of several globs together, compared from the left, higher is more specific: whether each glob
 * is exact, then the length of the literal text.
 */
export function globSpecificity(...globs: readonly string[]): number[] {
  const literal = globs.join('').replaceAll('*', '')
  return [...globs.map((glob) => (glob.includes('*') ? 0 : 1)), literal.length]
}
