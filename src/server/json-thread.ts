import { Worker } from 'node:worker_threads'
import { CoworkError } from '#base/errors.ts'
import { jsonExcess } from '#base/json-size.ts'
import type { JsonAnswer, JsonQuestion } from './json-worker.ts'
import { invalidJson, bodyTooLargeError } from './limits.ts'

/**
 * Checks and parses JSON of more than `maxBytes` beside the event loop, one text at a time. Measured with 60 MB in
 * one string: 20 to 40 ms of CPU here, for the copy that comes back, where scanning and parsing take 150 to 220.
 */
export function createJsonThread(maxBytes: number) {
  let worker: Worker | undefined
  let last: Promise<unknown> = Promise.resolve()

  function ask(question: JsonQuestion): Promise<JsonAnswer> {
    const thread = (worker ??= start())
    thread.ref()
    return new Promise<JsonAnswer>((resolve, reject) => {
      const fail = () => {
        worker = undefined
        reject(
          new CoworkError('internal', 'The message could not be parsed: its thread ended.', {
            hint: 'Send it again, in smaller parts if it fails again.',
          }),
        )
      }
      thread.once('message', (answer: JsonAnswer) => {
        thread.off('exit', fail)
        resolve(answer)
      })
      thread.once('exit', fail)
      thread.postMessage(question, [question.bytes.buffer])
    }).finally(() => thread.unref())
  }

  function start(): Worker {
    const thread = new Worker(new URL('./json-worker.ts', import.meta.url))
    // Its exit tells as much.
    thread.on('error', () => undefined)
    return thread
  }

  return {
    /** Takes only calls of these tools, where any are named. The bytes are gone afterwards. */
    async parse(bytes: Buffer, tools?: readonly string[]): Promise<unknown> {
      const own = isWhole(bytes) ? bytes : Buffer.from(new Uint8Array(bytes).buffer)
      const turn = last.then(() => ask({ bytes: own as Uint8Array<ArrayBuffer>, tools }))
      last = turn.catch(() => undefined)
      const answer = await turn
      if ('value' in answer) return answer.value
      if (answer.excess === 'invalid') throw invalidJson()
      throw answer.excess === 'tool' ? bodyTooLargeError(maxBytes) : jsonExcess(answer.excess)
    },
    async close(): Promise<void> {
      await worker?.terminate()
    },
  }
}

/** A part of a shared buffer cannot be handed over. */
const isWhole = ({ buffer, length }: Buffer) =>
  buffer instanceof ArrayBuffer && buffer.byteLength === length
