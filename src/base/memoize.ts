/**
 * Caches the results of a pure function. Exceptions are not cached.
 */
export function memoize<V>(compute: (text: string) => V, maxEntries = 512): (text: string) => V {
  const cache = new Map<string, V>()
  return (text) => {
    const cached = cache.get(text)
    if (cached !== undefined) return cached
    const value = compute(text)
    if (cache.size >= maxEntries) cache.clear()
    cache.set(text, value)
    return value
  }
}
