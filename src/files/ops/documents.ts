import { Worker } from 'node:worker_threads'
import { FileError } from '../confine/file-error.ts'
import type { ExtractedText } from './documents-thread.ts'
import { isWord } from './file-type.ts'
import { createThreadPool } from './thread-pool.ts'

/** Limits of time and memory for the third-party parsers. */
const limits = { ms: 20_000, heapMb: 256, growthBytes: 512 * 1024 * 1024 }

/** One document at a time, because each may use the full memory limit. */
const withDocumentThread = createThreadPool(1)

/** Extracts the text of a PDF or Word file. `yieldNow` throws when no caller waits any longer. */
export async function extractText(
  bytes: Buffer,
  mime: string,
  yieldNow: () => Promise<void>,
  threadLimits = limits,
): Promise<string> {
  const copy = Uint8Array.from(bytes)
  const start = () =>
    new Worker(new URL('./documents-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: threadLimits.heapMb, maxYoungGenerationSizeMb: 32 },
      stdout: true,
      stderr: true,
    })
  try {
    return await withDocumentThread(start, yieldNow, async (thread) => {
      const request = { bytes: copy, isWord: isWord(mime) }
      const answer = thread.request<ExtractedText>(request, [copy.buffer])
      return unwrapText(await withLimits(answer, threadLimits))
    })
  } catch (error) {
    throw error instanceof FileError ? error : extractionError()
  }
}

function unwrapText(answer: ExtractedText): string {
  if ('text' in answer) return answer.text
  throw answer.error === 'locked' ? lockedError() : extractionError()
}

async function withLimits<T>(answer: Promise<T>, { ms, growthBytes }: typeof limits): Promise<T> {
  const before = process.memoryUsage.rss()
  const failure = Promise.withResolvers<never>()
  const timeout = setTimeout(() => failure.reject(timeoutError()), ms)
  // Unpacked archives use memory outside of the limited heap.
  const memoryCheck = setInterval(() => {
    if (process.memoryUsage.rss() - before > growthBytes) failure.reject(extractionError())
  }, 50)
  try {
    return await Promise.race([answer, failure.promise])
  } finally {
    clearTimeout(timeout)
    clearInterval(memoryCheck)
  }
}

const extractionError = () => new FileError('unreadable', 'Cannot extract text from the document.')

const lockedError = () => new FileError('unreadable', 'The document is password-protected.')

const timeoutError = () => new FileError('timeout', 'Text extraction timed out.')
