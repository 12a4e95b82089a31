/**
 * Globs with `*` only (any run of characters), in linear time: patterns come from config and from
 * agents, and the usual matchers hang on hostile ones.
 */
export const matchesGlob = (pattern: string, text: string): boolean =>
  pattern.includes('*') ? fits(pattern.split('*'), text) : pattern === text

/** The same for a pattern that is asked about many texts. */
export function compileGlob(pattern: string): (text: string) => boolean {
  if (!pattern.includes('*')) return (text) => text === pattern
  const parts = pattern.split('*')
  return (text) => fits(parts, text)
}

function fits(parts: readonly string[], text: string): boolean {
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

/** Whether some text matches both. */
export function globsOverlap(a: string, b: string): boolean {
  if (!a.includes('*')) return matchesGlob(b, a)
  if (!b.includes('*')) return matchesGlob(a, b)
  // Between its ends each can hold whatever the other asks for, so only the ends can disagree.
  const [startOfA, startOfB] = [a.slice(0, a.indexOf('*')), b.slice(0, b.indexOf('*'))]
  const [endOfA, endOfB] = [a.slice(a.lastIndexOf('*') + 1), b.slice(b.lastIndexOf('*') + 1)]
  return (
    (startOfA.startsWith(startOfB) || startOfB.startsWith(startOfA)) &&
    (endOfA.endsWith(endOfB) || endOfB.endsWith(endOfA))
  )
}

/**
 * How closely globs fit, taken together: exact ones before others, the first first, then the longer
 * literal. Compared from the left, higher is closer.
 */
export function globSpecificity(...globs: readonly string[]): number[] {
  const literal = globs.join('').replaceAll('*', '')
  return [...globs.map((glob) => (glob.includes('*') ? 0 : 1)), literal.length]
}
