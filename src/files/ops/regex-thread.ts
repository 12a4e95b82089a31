/** Looks for a regular expression in texts. In a thread, since an agent says which, and how long they are. */
import { parentPort, workerData } from 'node:worker_threads'
import { RE2JS } from 're2js'
import { matchedIn, matchedLines } from './matched-lines.ts'
import type { Matched, PlaceIn, SearchedText } from './matched-lines.ts'

export type Question = { readonly texts: readonly SearchedText[]; readonly most: number }
export type Answer = readonly Matched[] | 'invalid'

const pattern = compiled(workerData as string)

function compiled(query: string): RE2JS | undefined {
  try {
    return RE2JS.compile(query, RE2JS.MULTILINE)
  } catch {
    return undefined
  }
}

const none: Matched = { count: 0, lines: [] }

function answered({ texts, most }: Question): Answer {
  if (!pattern) return 'invalid'
  const placeIn: PlaceIn = (text) => {
    const matcher = pattern.matcher(text)
    return matcher.find() ? matcher.start() : -1
  }
  return matchedIn(texts, most, (searched, left) =>
    // Line by line comes after, and only where there is something.
    placeIn(searched.text.replaceAll('\r\n', '\n')) === -1
      ? none
      : matchedLines(searched, left, placeIn),
  )
}

parentPort?.on('message', (question: Question) => parentPort?.postMessage(answered(question)))
