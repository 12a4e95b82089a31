/** Edits by exact match (FT4). Pure: text in, text out. */
import { FileError } from '../confine/file-error.ts'
import type { Edit } from '../worker/protocol.ts'

/** Beyond this nobody wants to know how many. */
const mostCounted = 1000

/**
 * One of several edits, on what the one before it made of the text. Line ends match whichever they are, and what is put
 * in gets those of the place; all the rest stays as it was, character by character.
 */
export function applyEdit(text: string, edit: Edit, number: number): string {
  const old = edit.old.replaceAll('\r\n', '\n')
  if (old === '')
    throw new FileError('no_match', `Edit ${number} does not say which text to replace.`)
  const { plain, real } = withoutReturns(text)
  const places = findOccurrences(plain, old, mostCounted)
  const [found] = places
  if (found === undefined)
    throw new FileError('no_match', `The old text of edit ${number} is not there.`)
  if (places.length > 1)
    throw new FileError(
      'ambiguous_edit',
      `The old text of edit ${number} is there ${places.length < mostCounted ? places.length : 'many'} times.`,
    )
  const [from, to] = [real(found), real(found + old.length)]
  const ending = detectLineEnding(text.slice(from, to)) ?? usualEnding(text)
  return text.slice(0, from) + withLineEnding(edit.new, ending) + text.slice(to)
}

/** The text with plain line ends, and where a place in it is in the text as it stands. */
function withoutReturns(text: string): { plain: string; real(place: number): number } {
  if (!text.includes('\r\n')) return { plain: text, real: (place) => place }
  const gone: number[] = []
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2))
    gone.push(at - gone.length)
  const real = (place: number) => {
    let [low, high] = [0, gone.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((gone[middle] ?? 0) < place) low = middle + 1
      else high = middle
    }
    return place + low
  }
  return { plain: text.replaceAll('\r\n', '\n'), real }
}

/** Of a place without a line end: as most lines of the file have it; as given where it has none. */
function usualEnding(text: string) {
  const ending = detectLineEnding(text)
  if (ending !== 'mixed') return ending
  const windows = text.split('\r\n').length - 1
  return windows * 2 > text.split('\n').length - 1 ? '\r\n' : '\n'
}

/** How the lines of a text end. `mixed` ones are left as they are given. */
export type LineEnding = '\n' | '\r\n' | 'mixed'

export function detectLineEnding(text: string): LineEnding | undefined {
  let [windows, all] = [0, 0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    all++
    if (text[at - 1] === '\r') windows++
  }
  if (all === 0) return undefined
  return windows === 0 ? '\n' : windows === all ? '\r\n' : 'mixed'
}

export function withLineEnding(text: string, ending: LineEnding | undefined): string {
  if (ending === undefined || ending === 'mixed') return text
  const plain = text.replaceAll('\r\n', '\n')
  return ending === '\n' ? plain : plain.replaceAll('\n', '\r\n')
}

/** Where one text stands in another, in time that grows with their lengths and not with the product of them. */

/** Steps that the search of the engine may take at worst: about a quarter of a second. */
const mostSteps = 1e9

/** The first so many places, overlapping ones too: each of them could be meant. */
export function findOccurrences(text: string, part: string, most: number): readonly number[] {
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
