import { sanitizeText } from '#base/sanitize.ts'

type MatchedLine = { readonly line: number; readonly snippet: string }

export type SearchedText = { readonly text: string; readonly after: number }

export type LineMatches = { readonly count: number; readonly lines: readonly MatchedLine[] }

export type FindMatch = (text: string) => number

const maxSnippetLength = 200

/** Matches several texts in order. All matching lines are counted, and at most `maxLines` are returned. */
export function matchTexts(
  texts: readonly SearchedText[],
  maxLines: number,
  matchText: (searched: SearchedText, most: number) => LineMatches,
): LineMatches[] {
  let remaining = maxLines
  return texts.map((searched) => {
    const matches = matchText(searched, remaining)
    remaining -= matches.lines.length
    return matches
  })
}

export function matchLines(
  { text, after }: SearchedText,
  maxLines: number,
  findMatch: FindMatch,
): LineMatches {
  const lines: MatchedLine[] = []
  let [line, count] = [0, 0]
  for (let from = 0; from <= text.length;) {
    const end = text.indexOf('\n', from)
    const to = end === -1 ? text.length : end
    line++
    const content = text.slice(from, text[to - 1] === '\r' && to > from ? to - 1 : to)
    const position = content === '' ? -1 : findMatch(content)
    if (position !== -1) count++
    if (position !== -1 && line > after && lines.length < maxLines)
      lines.push({ line, snippet: buildSnippet(content, position) })
    from = to + 1
  }
  return { count, lines }
}

/** Truncates the line around the match and sanitizes it (PV8). */
function buildSnippet(line: string, position: number): string {
  const start = position <= maxSnippetLength / 2 ? 0 : position - maxSnippetLength / 4
  const excerpt = line.slice(start, start + maxSnippetLength + 1)
  return sanitizeText(start === 0 ? excerpt.trimStart() : `…${excerpt}`, maxSnippetLength)
}
