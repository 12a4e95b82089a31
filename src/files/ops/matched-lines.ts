import { plainText } from '#base/plain.ts'

export type MatchedLine = { readonly line: number; readonly snippet: string }

/** Where in a text the first match begins, or -1. */
export type PlaceIn = (text: string) => number

const longestSnippet = 200

/** The lines with a match, counted from 1. */
export function matchedLines(text: string, placeIn: PlaceIn): MatchedLine[] {
  const found: MatchedLine[] = []
  let line = 0
  for (let from = 0; from <= text.length;) {
    const end = text.indexOf('\n', from)
    const to = end === -1 ? text.length : end
    line++
    const content = text.slice(from, text[to - 1] === '\r' && to > from ? to - 1 : to)
    const place = content === '' ? -1 : placeIn(content)
    if (place !== -1) found.push({ line, snippet: snippetOf(content, place) })
    from = to + 1
  }
  return found
}

/** The line around the match, cut, as plain text (PV8). */
function snippetOf(line: string, place: number): string {
  const start = place <= longestSnippet / 2 ? 0 : place - longestSnippet / 4
  const shown = line.slice(start, start + longestSnippet + 1)
  return plainText(start === 0 ? shown.trimStart() : `…${shown}`, longestSnippet)
}
