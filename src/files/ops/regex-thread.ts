/** Looks for a regular expression in texts. In a thread, since an agent says which, and how long they are. */
import { parentPort, workerData } from 'node:worker_threads'
import { RE2JS } from 're2js'
import { matchTexts, matchLines } from './matched-lines.ts'
import type { LineMatches, FindMatch, SearchedText } from './matched-lines.ts'

export type ThreadRequest = { readonly texts: readonly SearchedText[]; readonly most: number }
export type ThreadReply = readonly LineMatches[] | 'invalid'

const pattern = compiled(workerData as string)

function compiled(query: string): RE2JS | undefined {
  try {
    return RE2JS.compile(query, RE2JS.MULTILINE)
  } catch {
    return undefined
  }
}

const none: LineMatches = { count: 0, lines: [] }

function answered({ texts, most }: ThreadRequest): ThreadReply {
  if (!pattern) return 'invalid'
  const placeIn: FindMatch = (text) => {
    const matcher = pattern.matcher(text)
    return matcher.find() ? matcher.start() : -1
  }
  return matchTexts(texts, most, (searched, left) =>
    // Line by line comes after, and only where there is something.
    placeIn(searched.text.replaceAll('\r\n', '\n')) === -1
      ? none
      : matchLines(searched, left, placeIn),
  )
}

parentPort?.on('message', (question: ThreadRequest) => parentPort?.postMessage(answered(question)))
