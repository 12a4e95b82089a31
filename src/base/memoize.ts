/**
 * Remembers what a pure function gave for the last few hundred texts. What a function throws is not remembered.
 */
export function memoize<V>(compute: (text: string) => V, most = 512): (text: string) => V {
  const known = new Map<string, V>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const value = compute(text)
    if (known.size >= most) known.clear()
    known.set(text, value)
    return value
  }
}
