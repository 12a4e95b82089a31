import { isUtf8 } from 'node:buffer'
import { Worker } from 'node:worker_threads'
import { FileError } from '../confine/file-error.ts'
import { matchTexts, matchLines } from './matched-lines.ts'
import type { LineMatches, FindMatch, SearchedText } from './matched-lines.ts'
import type { ThreadReply, ThreadRequest } from './regex-thread.ts'
import { createThreadPool } from './thread-pool.ts'

export type TextMatcher = {
  /** Whether it is worth to look closer, decided on the bytes; `odd` where they are not plainly UTF-8. */
  hint(bytes: Buffer): 'no' | 'maybe' | 'odd'
  linesOf(texts: readonly SearchedText[], most: number): Promise<readonly LineMatches[]>
}

const longestQuery = 1000

/** `rest` throws when nobody waits any longer. */
export async function withTextMatcher<T>(
  { query, regex = false }: { readonly query: string; readonly regex?: boolean },
  rest: () => Promise<void>,
  use: (finder: TextMatcher) => Promise<T>,
): Promise<T> {
  if (query === '' || query.length > longestQuery)
    throw new FileError('invalid_query', `Search for 1 to ${longestQuery} characters.`)
  if (query.includes('\n'))
    throw new FileError(
      'invalid_query',
      'A search looks at one line at a time: leave out the line break.',
    )
  return regex ? withRegex(query, rest, use) : use(literalFinder(query.toLowerCase()))
}

function literalFinder(query: string): TextMatcher {
  const isAscii = Buffer.byteLength(query) === query.length
  const placeIn: FindMatch = (line) => line.toLowerCase().indexOf(query)
  return {
    hint(bytes) {
      if (bytes.subarray(0, looked).includes(0)) return 'odd'
      if (isAscii && !bytes.toString('latin1').toLowerCase().includes(query)) return 'no'
      if (!isUtf8(bytes)) return 'odd'
      return isAscii || bytes.toString('utf8').toLowerCase().includes(query) ? 'maybe' : 'no'
    },
    linesOf: (texts, most) =>
      Promise.resolve(matchTexts(texts, most, (one, left) => matchLines(one, left, placeIn))),
  }
}

/** Where a zero byte in a text would show by. */
const looked = 8192

const withRegexThread = createThreadPool(2)

/**
 * Time grows with the text times the expression, and that can be minutes (measured: 6 s for 100 kB); to compile
 * one takes up to a second. Neither is done here, where others wait.
 */
function withRegex<T>(
  query: string,
  rest: () => Promise<void>,
  use: (finder: TextMatcher) => Promise<T>,
): Promise<T> {
  const start = () =>
    new Worker(new URL('./regex-thread.ts', import.meta.url), { workerData: query })
  return withRegexThread(start, rest, async (thread) => {
    const linesOf = async (texts: readonly SearchedText[], most: number) => {
      const question: ThreadRequest = { texts, most }
      const found = await thread.ask<ThreadReply>(question)
      if (found === 'invalid')
        throw new FileError('invalid_query', 'That is no regular expression of RE2.')
      return found
    }
    // It is refused also where there is no file to look into.
    await linesOf([], 0)
    return use({
      hint: (bytes) => (bytes.subarray(0, looked).includes(0) || !isUtf8(bytes) ? 'odd' : 'maybe'),
      linesOf,
    })
  })
}
