import { Worker } from 'node:worker_threads'
import { CoworkError } from '#base/errors.ts'
import { jsonExcess } from '#base/json-size.ts'
import type { JsonResult, JsonRequest } from './json-worker.ts'
import { invalidJsonError, bodyTooLargeError } from './limits.ts'

/**
 * Checks and parses JSON of more than `maxBytes` outside the event loop, one text at a time. Measured with 60 MB in
 * one string: copying the result takes 20 to 40 ms of CPU here; scanning and parsing would take 150 to 220 ms.
 */
export function createJsonThread(maxBytes: number) {
  let worker: Worker | undefined
  let last: Promise<unknown> = Promise.resolve()

  function runInWorker(request: JsonRequest): Promise<JsonResult> {
    const thread = (worker ??= start())
    thread.ref()
    return new Promise<JsonResult>((resolve, reject) => {
      const fail = () => {
        worker = undefined
        reject(
          new CoworkError('internal', 'Cannot parse the message: the worker thread exited.', {
            hint: 'Retry, and send smaller messages if the error persists.',
          }),
        )
      }
      thread.once('message', (result: JsonResult) => {
        thread.off('exit', fail)
        resolve(result)
      })
      thread.once('exit', fail)
      thread.postMessage(request, [request.bytes.buffer])
    }).finally(() => thread.unref())
  }

  function start(): Worker {
    const thread = new Worker(new URL('./json-worker.ts', import.meta.url))
    // The exit event follows and rejects the request.
    thread.on('error', () => undefined)
    return thread
  }

  return {
    /** Parses the bytes and transfers them, so they are unusable afterwards. With `tools`, accepts only their calls. */
    async parse(bytes: Buffer, tools?: readonly string[]): Promise<unknown> {
      const transferable = ownsBuffer(bytes) ? bytes : Buffer.from(new Uint8Array(bytes).buffer)
      const parsing = last.then(() =>
        runInWorker({ bytes: transferable as Uint8Array<ArrayBuffer>, tools }),
      )
      last = parsing.catch(() => undefined)
      const result = await parsing
      if ('value' in result) return result.value
      if (result.excess === 'invalid') throw invalidJsonError()
      throw result.excess === 'tool' ? bodyTooLargeError(maxBytes) : jsonExcess(result.excess)
    },
    async close(): Promise<void> {
      await worker?.terminate()
    },
  }
}

/** A slice of a shared buffer cannot be transferred. */
const ownsBuffer = ({ buffer, length }: Buffer) =>
  buffer instanceof ArrayBuffer && buffer.byteLength === length
