/** Finds a text or a regular expression in files, line by line. */
import { isUtf8 } from 'node:buffer'
import { plainText } from '#base/plain.ts'
import { FileFault } from '../confine/fault.ts'
import { lazily } from './lazily.ts'

const loadRe2 = lazily(() => import('re2js'))

type MatchedLine = { readonly line: number; readonly snippet: string }

export type Finder = {
  /** Whether it is worth to look closer, decided on the bytes; `odd` where they are not plainly UTF-8. */
  hint(bytes: Buffer): 'no' | 'maybe' | 'odd'
  /** The lines with a match, counted from 1. */
  linesOf(text: string): readonly MatchedLine[]
}

/** Where in a line the first match begins, or -1. */
type PlaceIn = (line: string) => number

const longestQuery = 1000
const longestSnippet = 200

export async function compileFinder(query: string, isRegex: boolean): Promise<Finder> {
  if (query === '' || query.length > longestQuery)
    throw new FileFault('invalid_query', `Search for 1 to ${longestQuery} characters.`)
  return isRegex ? regexFinder(query) : literalFinder(query.toLowerCase())
}

function literalFinder(query: string): Finder {
  const isAscii = Buffer.byteLength(query) === query.length
  const placeIn: PlaceIn = (line) => line.toLowerCase().indexOf(query)
  return {
    hint(bytes) {
      if (bytes.subarray(0, looked).includes(0)) return 'odd'
      if (isAscii && !bytes.toString('latin1').toLowerCase().includes(query)) return 'no'
      if (!isUtf8(bytes)) return 'odd'
      return isAscii || bytes.toString('utf8').toLowerCase().includes(query) ? 'maybe' : 'no'
    },
    linesOf: (text) => matchedLines(text, placeIn),
  }
}

/** Where a zero byte in a text would show by. */
const looked = 8192

async function regexFinder(query: string): Promise<Finder> {
  const { RE2JS } = await loadRe2()
  const pattern = compiledBy(() => RE2JS.compile(query, RE2JS.MULTILINE))
  const placeIn: PlaceIn = (line) => {
    const matcher = pattern.matcher(line)
    return matcher.find() ? matcher.start() : -1
  }
  return {
    hint(bytes) {
      if (bytes.subarray(0, looked).includes(0) || !isUtf8(bytes)) return 'odd'
      // Line by line comes later, and only where there is something.
      const text = bytes.toString('utf8')
      return placeIn(text.replaceAll('\r\n', '\n')) === -1 ? 'no' : 'maybe'
    },
    linesOf: (text) => matchedLines(text, placeIn),
  }
}

function compiledBy<T>(compile: () => T): T {
  try {
    return compile()
  } catch {
    throw new FileFault('invalid_query', 'That is no regular expression of RE2.')
  }
}

function matchedLines(text: string, placeIn: PlaceIn): MatchedLine[] {
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
