/** Where one text stands in another, in time that grows with their lengths and not with the product of them. */

/** Steps that the search of the engine may take at worst: about a quarter of a second. */
const mostSteps = 1e9

/** The first so many places, overlapping ones too: each of them could be meant. */
export function firstPlaces(text: string, part: string, most: number): readonly number[] {
  const steps = (text.length - part.length + 1) * part.length
  const next =
    steps > mostSteps ? steadySearch(text, part) : (from: number) => text.indexOf(part, from)
  const places: number[] = []
  for (let at = next(0); at !== -1 && places.length < most; at = next(at + 1)) places.push(at)
  return places
}

/**
 * Knuth, Morris and Pratt: no character of the text is looked at twice. Slower than the engine's own search for
 * usual texts, which takes minutes where both are of few letters.
 */
function steadySearch(text: string, part: string): (from: number) => number {
  const shorter = borders(part)
  let at = 0
  let matched = 0
  return () => {
    while (at < text.length) {
      const letter = text.charCodeAt(at++)
      while (matched > 0 && part.charCodeAt(matched) !== letter) matched = shorter[matched - 1] ?? 0
      if (part.charCodeAt(matched) === letter) matched++
      if (matched < part.length) continue
      matched = shorter[matched - 1] ?? 0
      return at - part.length
    }
    return -1
  }
}

/** For each beginning of a text: the length of the longest shorter one that it ends with. */
function borders(part: string): Int32Array {
  const lengths = new Int32Array(part.length)
  for (let at = 1, length = 0; at < part.length; at++) {
    const letter = part.charCodeAt(at)
    while (length > 0 && part.charCodeAt(length) !== letter) length = lengths[length - 1] ?? 0
    if (part.charCodeAt(length) === letter) length++
    lengths[at] = length
  }
  return lengths
}
