import { Worker } from 'node:worker_threads'
import { FileError } from '../confine/file-error.ts'
import type { ExtractedText } from './documents-thread.ts'
import { isWord } from './file-type.ts'
import { createThreadPool } from './thread-pool.ts'

/** A document is read by others' code: it gets this much time and memory, and is then given up. */
const limits = { ms: 20_000, heapMb: 256, growthBytes: 512 * 1024 * 1024 }

/** One document at a time: each may take as much memory as it is allowed. */
const withDocumentThread = createThreadPool(1)

/** The text of a PDF or Word file. `rest` throws when nobody waits for it any longer. */
export async function extractText(
  bytes: Buffer,
  mime: string,
  rest: () => Promise<void>,
  within = limits,
): Promise<string> {
  const copy = Uint8Array.from(bytes)
  const start = () =>
    new Worker(new URL('./documents-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: within.heapMb, maxYoungGenerationSizeMb: 32 },
      stdout: true,
      stderr: true,
    })
  try {
    return await withDocumentThread(start, rest, async (thread) => {
      const question = { bytes: copy, isWord: isWord(mime) }
      const answer = thread.ask<ExtractedText>(question, [copy.buffer])
      return textIn(await limited(answer, within))
    })
  } catch (error) {
    throw error instanceof FileError ? error : unreadable()
  }
}

function textIn(answer: ExtractedText): string {
  if ('text' in answer) return answer.text
  throw answer.fault === 'locked' ? locked() : unreadable()
}

async function limited<T>(answer: Promise<T>, { ms, growthBytes }: typeof limits): Promise<T> {
  const before = process.memoryUsage.rss()
  const over = Promise.withResolvers<never>()
  const late = setTimeout(() => over.reject(tooSlow()), ms)
  // What archives unpack to lies outside the heap that the limit is for.
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() - before > growthBytes) over.reject(unreadable())
  }, 50)
  try {
    return await Promise.race([answer, over.promise])
  } finally {
    clearTimeout(late)
    clearInterval(watch)
  }
}

const unreadable = () => new FileError('unreadable', 'No text could be taken out of the document.')

const locked = () => new FileError('unreadable', 'The document is locked with a password.')

const tooSlow = () => new FileError('timeout', 'Taking the text out of the document took too long.')
