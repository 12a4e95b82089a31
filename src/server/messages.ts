import { CoworkError } from '#base/errors.ts'
import { checkJsonSize } from '#base/json-size.ts'
import { createJsonThread } from './json-thread.ts'
import {
  maxMessageBytes,
  maxFileBodyBytes,
  parseJson,
  readBytes,
  bodyTooLargeError,
} from './limits.ts'
import { createRequestQueue, tooManyQueuedError } from './request-queue.ts'

/** The 2025-03-26 revision allows several messages in one body. */
const maxBatch = 16
/** Longer bodies of a client are read one after the other: libuv reads up to 2 MB of a socket per iteration. */
const shortBytes = 16 * 1024
const maxReads = 256

export type Messages = ReturnType<typeof createMessages>

type MessagesDeps = {
  /** The maximum body that writes no file (`server.limits.body_bytes`). */
  readonly bodyBytes: number
  /** The tools whose arguments can be as large as a file (SV25). */
  readonly largeTools: () => readonly string[]
}

/**
 * Reads and parses the messages of agents (RS4). Limits apply to the bytes. A message that the ledger can record waits
 * in the request queue; a larger one, which only a file write can be, is parsed in a worker thread.
 */
export function createMessages({ bodyBytes, largeTools }: MessagesDeps) {
  const maxBytes = Math.min(bodyBytes, maxMessageBytes)
  const queue = createRequestQueue()
  const thread = createJsonThread(maxBytes)
  const reads = new Map<string, { count: number; last: Promise<unknown> }>()

  /** Reads the long bodies of a lane one after the other, so that the others stay in the client's sockets. */
  async function readSequentially<T>(lane: string, readBody: () => Promise<T>): Promise<T> {
    const pending = reads.get(lane) ?? { count: 0, last: Promise.resolve() }
    if (pending.count >= maxReads) throw tooManyQueuedError(pending.count)
    reads.set(lane, pending)
    pending.count++
    const body = pending.last.then(readBody)
    pending.last = body.catch(() => undefined)
    try {
      return await body
    } finally {
      if (--pending.count === 0) reads.delete(lane)
    }
  }

  /** Parses a message. With `tools`, a large message must be a call of one of them. */
  async function parse(lane: string, bytes: Buffer, tools?: readonly string[]): Promise<unknown> {
    if (bytes.length > maxBytes) {
      const value = await thread.parse(bytes, tools)
      await queue.wait(lane)
      return value
    }
    await queue.wait(lane)
    checkJsonSize(bytes)
    const value = parseJson(bytes.toString('utf8'))
    if (Array.isArray(value) && value.length > maxBatch)
      throw new CoworkError('too_large', `Batch too large: the limit is ${maxBatch} messages.`, {
        hint: 'Send one message per request.',
      })
    return value
  }

  async function read(
    lane: string,
    request: Request,
    maxBodyBytes: number,
    tools?: readonly string[],
  ): Promise<unknown> {
    const length = request.headers.get('content-length')
    if (length !== null && Number(length) > maxBodyBytes) throw bodyTooLargeError(maxBodyBytes)
    const readAndParse = async () => parse(lane, await readBytes(request, maxBodyBytes), tools)
    const isShort = length !== null && Number(length) <= shortBytes
    return isShort ? readAndParse() : readSequentially(lane, readAndParse)
  }

  return {
    queue: queue,
    maxBytes,
    /** Parses a line of a stdio connection, which can be as long as a file. */
    parseLine: (lane: string, line: Buffer) => parse(lane, line, largeTools()),
    /** Reads and parses the body of an MCP request. */
    readMessage: (lane: string, request: Request, canWriteFiles: boolean) =>
      read(lane, request, canWriteFiles ? maxFileBodyBytes : maxBytes, largeTools()),
    /** Reads and parses the body of a call whose tool is in the path. */
    readArguments: (lane: string, request: Request, tool: string | undefined) =>
      read(lane, request, largeTools().includes(tool ?? '') ? maxFileBodyBytes : maxBytes),
    close: thread.close,
  }
}
