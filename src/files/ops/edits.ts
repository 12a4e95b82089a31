/** Edits by exact match (FT4). Pure: text in, text out. */
import { FileFault } from '../confine/fault.ts'
import type { Edit } from '../worker/protocol.ts'
import { lineEndingOf, withLineEnding } from './line-endings.ts'
import { firstPlaces } from './places-in-text.ts'

/** Beyond this nobody wants to know how many. */
const mostCounted = 1000

/**
 * One of several edits, on what the one before it made of the text. Line ends match whichever they are, and what is put
 * in gets those of the place; all the rest stays as it was, character by character.
 */
export function applyEdit(text: string, edit: Edit, number: number): string {
  const old = edit.old.replaceAll('\r\n', '\n')
  if (old === '')
    throw new FileFault('no_match', `Edit ${number} does not say which text to replace.`)
  const { plain, real } = withoutReturns(text)
  const places = firstPlaces(plain, old, mostCounted)
  const [found] = places
  if (found === undefined)
    throw new FileFault('no_match', `The old text of edit ${number} is not there.`)
  if (places.length > 1)
    throw new FileFault(
      'ambiguous_edit',
      `The old text of edit ${number} is there ${places.length < mostCounted ? places.length : 'many'} times.`,
    )
  const [from, to] = [real(found), real(found + old.length)]
  const ending = lineEndingOf(text.slice(from, to)) ?? usualEnding(text)
  return text.slice(0, from) + withLineEnding(edit.new, ending) + text.slice(to)
}

/** The text with plain line ends, and where a place in it is in the text as it stands. */
function withoutReturns(text: string): { plain: string; real(place: number): number } {
  if (!text.includes('\r\n')) return { plain: text, real: (place) => place }
  // Where in the plain text a return was left out.
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
  const ending = lineEndingOf(text)
  if (ending !== 'mixed') return ending
  const windows = text.split('\r\n').length - 1
  return windows * 2 > text.split('\n').length - 1 ? '\r\n' : '\n'
}
