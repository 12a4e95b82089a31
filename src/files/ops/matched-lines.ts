import { sanitizeText } from '#base/sanitize.ts'

type MatchedLine = { readonly line: number; readonly snippet: string }

export type SearchedText = { readonly text: string; readonly after: number }

export type LineMatches = { readonly count: number; readonly lines: readonly MatchedLine[] }

export type FindMatch = (text: string) => number

const longestSnippet = 200

/** Of several texts, one after the other: a million lines with a match are counted, and so many are kept. */
export function matchTexts(
  texts: readonly SearchedText[],
  most: number,
  matchedOf: (searched: SearchedText, most: number) => LineMatches,
): LineMatches[] {
  let left = most
  return texts.map((searched) => {
    const matched = matchedOf(searched, left)
    left -= matched.lines.length
    return matched
  })
}

export function matchLines(
  { text, after }: SearchedText,
  most: number,
  placeIn: FindMatch,
): LineMatches {
  const lines: MatchedLine[] = []
  let [line, count] = [0, 0]
  for (let from = 0; from <= text.length;) {
    const end = text.indexOf('\n', from)
    const to = end === -1 ? text.length : end
    line++
    const content = text.slice(from, text[to - 1] === '\r' && to > from ? to - 1 : to)
    const place = content === '' ? -1 : placeIn(content)
    if (place !== -1) count++
    if (place !== -1 && line > after && lines.length < most)
      lines.push({ line, snippet: snippetOf(content, place) })
    from = to + 1
  }
  return { count, lines }
}

/** The line around the match, cut, as plain text (PV8). */
function snippetOf(line: string, place: number): string {
  const start = place <= longestSnippet / 2 ? 0 : place - longestSnippet / 4
  const shown = line.slice(start, start + longestSnippet + 1)
  return sanitizeText(start === 0 ? shown.trimStart() : `…${shown}`, longestSnippet)
}
