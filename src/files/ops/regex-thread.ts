/** Looks for a regular expression in texts. In a thread, since an agent says which, and how long they are. */
import { parentPort, workerData } from 'node:worker_threads'
import { RE2JS } from 're2js'
import { matchedLines } from './matched-lines.ts'

const pattern = RE2JS.compile(workerData as string, RE2JS.MULTILINE)

function placeIn(text: string): number {
  const matcher = pattern.matcher(text)
  return matcher.find() ? matcher.start() : -1
}

parentPort?.on('message', (texts: readonly string[]) => {
  const found = texts.map((text) =>
    // Line by line comes after, and only where there is something.
    placeIn(text.replaceAll('\r\n', '\n')) === -1 ? [] : matchedLines(text, placeIn),
  )
  parentPort?.postMessage(found)
})
