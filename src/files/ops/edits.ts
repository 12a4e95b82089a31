/** Applies edits by exact match (FT4). Pure: text in, text out. */
import { FileError } from '../confine/file-error.ts'
import type { Edit } from '../worker/protocol.ts'

/** More matches are reported as "many". */
const maxCounted = 1000

/**
 * Applies one edit to the result of the previous one. Line endings match in any form, and inserted text gets those of
 * its position; the rest of the text is unchanged, character by character.
 */
export function applyEdit(text: string, edit: Edit, number: number): string {
  const old = edit.old.replaceAll('\r\n', '\n')
  if (old === '') throw new FileError('no_match', `Edit ${number} has an empty old text.`)
  const { plain, toOriginal } = normalizeLineEndings(text)
  const positions = findOccurrences(plain, old, maxCounted)
  const [position] = positions
  if (position === undefined)
    throw new FileError('no_match', `The old text of edit ${number} was not found.`)
  if (positions.length > 1)
    throw new FileError(
      'ambiguous_edit',
      `The old text of edit ${number} occurs ${positions.length < maxCounted ? positions.length : 'many'} times.`,
    )
  const [from, to] = [toOriginal(position), toOriginal(position + old.length)]
  const lineEnding = detectLineEnding(text.slice(from, to)) ?? dominantLineEnding(text)
  return text.slice(0, from) + withLineEnding(edit.new, lineEnding) + text.slice(to)
}

/** Returns the text with LF line endings, and a function that maps positions to the original text. */
function normalizeLineEndings(text: string): { plain: string; toOriginal(place: number): number } {
  if (!text.includes('\r\n')) return { plain: text, toOriginal: (position) => position }
  const removedReturns: number[] = []
  for (let index = text.indexOf('\r\n'); index !== -1; index = text.indexOf('\r\n', index + 2))
    removedReturns.push(index - removedReturns.length)
  const toOriginal = (position: number) => {
    let [low, high] = [0, removedReturns.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((removedReturns[middle] ?? 0) < position) low = middle + 1
      else high = middle
    }
    return position + low
  }
  return { plain: text.replaceAll('\r\n', '\n'), toOriginal }
}

/** The line ending for a position without one: that of most lines; undefined if the file has none. */
function dominantLineEnding(text: string) {
  const ending = detectLineEnding(text)
  if (ending !== 'mixed') return ending
  const windows = text.split('\r\n').length - 1
  return windows * 2 > text.split('\n').length - 1 ? '\r\n' : '\n'
}

/** How the lines of a text end. Inserted text in a `mixed` file stays as given. */
export type LineEnding = '\n' | '\r\n' | 'mixed'

export function detectLineEnding(text: string): LineEnding | undefined {
  let [windows, all] = [0, 0]
  for (let index = text.indexOf('\n'); index !== -1; index = text.indexOf('\n', index + 1)) {
    all++
    if (text[index - 1] === '\r') windows++
  }
  if (all === 0) return undefined
  return windows === 0 ? '\n' : windows === all ? '\r\n' : 'mixed'
}

export function withLineEnding(text: string, ending: LineEnding | undefined): string {
  if (ending === undefined || ending === 'mixed') return text
  const plain = text.replaceAll('\r\n', '\n')
  return ending === '\n' ? plain : plain.replaceAll('\n', '\r\n')
}

/** The worst-case steps for the engine's search: about a quarter of a second. */
const maxSteps = 1e9

/** Finds the first positions, including overlapping ones, because each of them could be meant. */
export function findOccurrences(text: string, part: string, maxCount: number): readonly number[] {
  const steps = (text.length - part.length + 1) * part.length
  const next =
    steps > maxSteps ? createLinearSearch(text, part) : (from: number) => text.indexOf(part, from)
  const positions: number[] = []
  for (
    let position = next(0);
    position !== -1 && positions.length < maxCount;
    position = next(position + 1)
  )
    positions.push(position)
  return positions
}

/**
 * Knuth-Morris-Pratt search, linear in the length of the text. Slower than the engine's search for ordinary texts,
 * which takes minutes if both texts consist of few distinct characters.
 */
function createLinearSearch(text: string, part: string): (from: number) => number {
  const borderLengths = computeBorders(part)
  let position = 0
  let matched = 0
  return () => {
    while (position < text.length) {
      const letter = text.charCodeAt(position++)
      while (matched > 0 && part.charCodeAt(matched) !== letter)
        matched = borderLengths[matched - 1] ?? 0
      if (part.charCodeAt(matched) === letter) matched++
      if (matched < part.length) continue
      matched = borderLengths[matched - 1] ?? 0
      return position - part.length
    }
    return -1
  }
}

/** For each prefix, the length of the longest proper prefix that is also its suffix. */
function computeBorders(part: string): Int32Array {
  const lengths = new Int32Array(part.length)
  for (let index = 1, length = 0; index < part.length; index++) {
    const letter = part.charCodeAt(index)
    while (length > 0 && part.charCodeAt(length) !== letter) length = lengths[length - 1] ?? 0
    if (part.charCodeAt(length) === letter) length++
    lengths[index] = length
  }
  return lengths
}
