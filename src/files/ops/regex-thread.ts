/** Matches a regular expression. Runs in a thread, because an agent chooses the expression and the texts. */
import { parentPort, workerData } from 'node:worker_threads'
import { RE2JS } from 're2js'
import { matchTexts, matchLines } from './matched-lines.ts'
import type { LineMatches, FindMatch, SearchedText } from './matched-lines.ts'

export type ThreadRequest = { readonly texts: readonly SearchedText[]; readonly maxLines: number }
export type ThreadReply = readonly LineMatches[] | 'invalid'

const pattern = compile(workerData as string)

function compile(query: string): RE2JS | undefined {
  try {
    return RE2JS.compile(query, RE2JS.MULTILINE)
  } catch {
    return undefined
  }
}

const noMatches: LineMatches = { count: 0, lines: [] }

function buildReply({ texts, maxLines }: ThreadRequest): ThreadReply {
  if (!pattern) return 'invalid'
  const findMatch: FindMatch = (text) => {
    const matcher = pattern.matcher(text)
    return matcher.find() ? matcher.start() : -1
  }
  return matchTexts(texts, maxLines, (searched, remaining) =>
    // One match over the whole text first: matching line by line is only worth it if there is a match.
    findMatch(searched.text.replaceAll('\r\n', '\n')) === -1
      ? noMatches
      : matchLines(searched, remaining, findMatch),
  )
}

parentPort?.on('message', (request: ThreadRequest) => parentPort?.postMessage(buildReply(request)))
