import { isUtf8 } from 'node:buffer'
import { Worker } from 'node:worker_threads'
import { FileError } from '../confine/file-error.ts'
import { matchTexts, matchLines } from './matched-lines.ts'
import type { LineMatches, FindMatch, SearchedText } from './matched-lines.ts'
import type { ThreadReply, ThreadRequest } from './regex-thread.ts'
import { createThreadPool } from './thread-pool.ts'

export type TextMatcher = {
  /** A fast check of the bytes: `no` cannot match, `odd` is not valid UTF-8. */
  hint(bytes: Buffer): 'no' | 'maybe' | 'odd'
  matchAll(texts: readonly SearchedText[], maxLines: number): Promise<readonly LineMatches[]>
}

const maxQueryLength = 1000

/** `yieldNow` throws when no caller waits any longer. */
export async function withTextMatcher<T>(
  { query, regex = false }: { readonly query: string; readonly regex?: boolean },
  yieldNow: () => Promise<void>,
  use: (matcher: TextMatcher) => Promise<T>,
): Promise<T> {
  if (query === '' || query.length > maxQueryLength)
    throw new FileError('invalid_query', `The query must have 1 to ${maxQueryLength} characters.`)
  if (query.includes('\n'))
    throw new FileError(
      'invalid_query',
      'The query must not contain a line break: search matches single lines.',
    )
  return regex
    ? withRegexMatcher(query, yieldNow, use)
    : use(createLiteralMatcher(query.toLowerCase()))
}

function createLiteralMatcher(query: string): TextMatcher {
  const isAscii = Buffer.byteLength(query) === query.length
  const findMatch: FindMatch = (line) => line.toLowerCase().indexOf(query)
  return {
    hint(bytes) {
      if (bytes.subarray(0, binarySampleBytes).includes(0)) return 'odd'
      if (isAscii && !bytes.toString('latin1').toLowerCase().includes(query)) return 'no'
      if (!isUtf8(bytes)) return 'odd'
      return isAscii || bytes.toString('utf8').toLowerCase().includes(query) ? 'maybe' : 'no'
    },
    matchAll: (texts, maxLines) =>
      Promise.resolve(
        matchTexts(texts, maxLines, (text, remaining) => matchLines(text, remaining, findMatch)),
      ),
  }
}

/** The bytes that are checked for a zero byte. */
const binarySampleBytes = 8192

const withRegexThread = createThreadPool(2)

/**
 * Matches a regular expression in a thread. The time grows with text length times pattern size and can reach minutes
 * (measured: 6 s for 100 kB); compiling takes up to a second. In the main thread it would block other operations.
 */
function withRegexMatcher<T>(
  query: string,
  yieldNow: () => Promise<void>,
  use: (matcher: TextMatcher) => Promise<T>,
): Promise<T> {
  const start = () =>
    new Worker(new URL('./regex-thread.ts', import.meta.url), { workerData: query })
  return withRegexThread(start, yieldNow, async (thread) => {
    const matchAll = async (texts: readonly SearchedText[], maxLines: number) => {
      const request: ThreadRequest = { texts, maxLines }
      const reply = await thread.request<ThreadReply>(request)
      if (reply === 'invalid')
        throw new FileError('invalid_query', 'Invalid RE2 regular expression.')
      return reply
    }
    // Compiles the pattern, so that an invalid one is refused even if there are no files.
    await matchAll([], 0)
    return use({
      hint: (bytes) =>
        bytes.subarray(0, binarySampleBytes).includes(0) || !isUtf8(bytes) ? 'odd' : 'maybe',
      matchAll,
    })
  })
}
