import { Worker } from 'node:worker_threads'
import { FileFault } from '../confine/fault.ts'
import { inTurn } from './disk.ts'
import { isWord } from './kinds.ts'

/** A document is read by others' code: it gets this much time and memory, and is then given up. */
const limits = { ms: 20_000, heapMb: 256, growthBytes: 512 * 1024 * 1024 }

/** The text of a PDF or Word file, one document at a time, in a thread that can be ended. */
export const textOfDocument = (bytes: Buffer, mime: string, within = limits): Promise<string> =>
  inTurn('document', () => extracted(bytes, isWord(mime), within))

async function extracted(bytes: Buffer, isWordFile: boolean, within: typeof limits) {
  const copy = Uint8Array.from(bytes)
  const thread = new Worker(new URL('./documents-thread.ts', import.meta.url), {
    workerData: { bytes: copy, isWord: isWordFile },
    transferList: [copy.buffer],
    resourceLimits: { maxOldGenerationSizeMb: within.heapMb, maxYoungGenerationSizeMb: 32 },
    stdout: true,
    stderr: true,
  })
  const before = process.memoryUsage.rss()
  const outcome = Promise.withResolvers<string>()
  thread.once('message', (text) => outcome.resolve(String(text)))
  thread.once('error', () => outcome.reject(unreadable()))
  thread.once('exit', () => outcome.reject(unreadable()))
  const late = setTimeout(() => outcome.reject(tooSlow()), within.ms)
  // What archives unpack to lies outside the heap that the limit is for.
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() - before > within.growthBytes) outcome.reject(unreadable())
  }, 50)
  try {
    return await outcome.promise
  } finally {
    clearTimeout(late)
    clearInterval(watch)
    await thread.terminate()
  }
}

const unreadable = () =>
  new FileFault('unreadable', 'No text could be taken out of the document. Read its bytes instead.')

const tooSlow = () =>
  new FileFault(
    'timeout',
    'Taking the text out of the document took too long. Read its bytes instead.',
  )
