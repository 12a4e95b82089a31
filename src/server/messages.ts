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
import { createTurns, tooManyWaiting } from './request-queue.ts'

/** The 2025-03-26 revision allows several messages in one body. */
const maxBatch = 16
/** A longer body of a client is read after the one before it: libuv reads up to 2 MB of a socket in one turn. */
const shortBytes = 16 * 1024
const maxReads = 256

export type Messages = ReturnType<typeof createMessages>

type MessagesDeps = {
  /** The most bytes of a body that writes no file (`server.limits.body_bytes`). */
  readonly bodyBytes: number
  /** The tools whose arguments may be as large as a file (SV25). */
  readonly largeTools: () => readonly string[]
}

/**
 * Reads and parses what agents send (RS4): limits apply to the bytes, a message that the ledger could record is parsed
 * when it is its client's turn, and a larger one, which only a file write may be, in a thread of its own.
 */
export function createMessages({ bodyBytes, largeTools }: MessagesDeps) {
  const maxBytes = Math.min(bodyBytes, maxMessageBytes)
  const turns = createTurns()
  const thread = createJsonThread(maxBytes)
  const reads = new Map<string, { count: number; last: Promise<unknown> }>()

  /** One long body of a lane after the other, so that the rest stays in the sockets of its client. */
  async function oneByOne<T>(lane: string, act: () => Promise<T>): Promise<T> {
    const queue = reads.get(lane) ?? { count: 0, last: Promise.resolve() }
    if (queue.count >= maxReads) throw tooManyWaiting(queue.count)
    reads.set(lane, queue)
    queue.count++
    const own = queue.last.then(act)
    queue.last = own.catch(() => undefined)
    try {
      return await own
    } finally {
      if (--queue.count === 0) reads.delete(lane)
    }
  }

  /** Parses a message. Of the large ones it takes calls of these tools, or any where none are named. */
  async function parse(lane: string, bytes: Buffer, tools?: readonly string[]): Promise<unknown> {
    if (bytes.length > maxBytes) {
      const value = await thread.parse(bytes, tools)
      await turns.wait(lane)
      return value
    }
    await turns.wait(lane)
    checkJsonSize(bytes)
    const value = parseJson(bytes.toString('utf8'))
    if (Array.isArray(value) && value.length > maxBatch)
      throw new CoworkError('too_large', `A batch may have ${maxBatch} messages.`, {
        hint: 'Send one message a request.',
      })
    return value
  }

  async function read(
    lane: string,
    request: Request,
    most: number,
    tools?: readonly string[],
  ): Promise<unknown> {
    const length = request.headers.get('content-length')
    if (length !== null && Number(length) > most) throw bodyTooLargeError(most)
    const readAndParse = async () => parse(lane, await readBytes(request, most), tools)
    const isShort = length !== null && Number(length) <= shortBytes
    return isShort ? readAndParse() : oneByOne(lane, readAndParse)
  }

  return {
    turns,
    maxBytes,
    /** Parses a line of a stdio connection, which may be as long as a file. */
    parseLine: (lane: string, line: Buffer) => parse(lane, line, largeTools()),
    /** Reads and parses the body of an MCP request. */
    readMessage: (lane: string, request: Request, canWriteFiles: boolean) =>
      read(lane, request, canWriteFiles ? maxFileBodyBytes : maxBytes, largeTools()),
    /** Reads and parses the body of a call whose tool the address names. */
    readArguments: (lane: string, request: Request, tool: string | undefined) =>
      read(lane, request, largeTools().includes(tool ?? '') ? maxFileBodyBytes : maxBytes),
    close: thread.close,
  }
}
