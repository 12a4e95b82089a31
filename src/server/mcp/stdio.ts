import type { Duplex } from 'node:stream'
import { parseJSONRPCMessage } from '@modelcontextprotocol/server'
import type { Server, Transport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { maxFileBodyBytes, parseJson } from '../limits.ts'
import { encodeJsonLine } from './json-line.ts'
import { getRequestId } from './replies.ts'

/**
 * After the client closes its input, pending responses are sent within this time; longer calls are
 * cancelled (SV14).
 */
const drainTimeoutMs = 1000

/**
 * Serves one stdio connection. The first message selects the protocol version. Resolves when
 * either side ends it.
 */
export async function serveStdioLines(
  transport: LineTransport,
  log: Log,
  newServer: () => Server,
): Promise<void> {
  const handle = serveStdio(newServer, {
    transport,
    onerror: (error) => log.debug('stdio connection error', { error: error.message }),
  })
  await transport.ended
  await handle.close()
}

const nothing: Buffer = Buffer.alloc(0)
/** Reading pauses at this number of queued lines. */
const maxLines = 64
const maxLineBytes = 1024 * 1024
/** The buffer for long lines that is kept for reuse. */
const maxRetainedBytes = 4 * 1024 * 1024

/** At least doubles the buffer, so a long line is not copied with every chunk. */
function growBuffer(room: Buffer, filled: number, size: number): Buffer {
  const next = Buffer.allocUnsafeSlow(Math.max(size, 2 * room.length))
  next.set(room.subarray(0, filled))
  return next
}

const parseLine = async (line: Buffer) => parseJson(line.toString('utf8'))

/** True for a line of white space; only short lines are checked. */
const isBlank = (line: Buffer) => line.length < 64 && line.toString('utf8').trim() === ''

const idPattern = String.raw`"id"\s*:\s*(-?(?:0|[1-9]\d{0,15})|"[^"\\\0-\x1f]{0,200}")`
const version = String.raw`"jsonrpc"\s*:\s*"2\.0"`
const idAtStart = new RegExp(String.raw`^\s*\{\s*(?:${version}\s*,\s*)?${idPattern}\s*,`)
const idAtEnd = new RegExp(String.raw`,\s*${idPattern}\s*(?:,\s*${version}\s*)?\}\s*$`)

/** Finds the id of an unparsed request if it is the first or last member, as clients write it. */
function findId(line: Buffer): string | number | undefined {
  const text =
    idAtStart.exec(line.toString('utf8', 0, 300))?.[1] ??
    idAtEnd.exec(line.toString('utf8', Math.max(0, line.length - 300)))?.[1]
  return text === undefined ? undefined : (JSON.parse(text) as string | number)
}

const isChangeNotification = (message: object): boolean =>
  'method' in message && /^notifications\/(resources|tools|prompts)\//.test(String(message.method))

type ClientMessage = { readonly method: string; readonly id?: unknown; readonly params?: unknown }

export type LineTransport = Transport & { readonly ended: Promise<void> }

type LineOptions = {
  readonly most?: number
  /** Parses lines one after the other. */
  parse?(line: Buffer): Promise<unknown>
  /** Handles a message before the SDK; returns true if it was handled. */
  take?(message: unknown): boolean
  /** Called after the response to a request. */
  onAnswered?(id: unknown): void
  /** Called for a line that is refused before it becomes a message. */
  onRefused?(error: CoworkError): void
  /** True if the client may still receive notifications of its subscriptions. */
  hearsNews?(): boolean
}

/**
 * Transports one JSON-RPC message per line. The SDK's own transport ignores unreadable lines and
 * copies its buffer with every chunk; this one returns an error and continues with the next line.
 * Only this user can open the socket, so a line may be as long as a file (SV25).
 */
export function createLineTransport(
  stream: Duplex,
  {
    most = maxFileBodyBytes,
    parse = parseLine,
    take,
    onAnswered,
    onRefused,
    hearsNews,
  }: LineOptions = {},
): LineTransport {
  const ended = Promise.withResolvers<void>()
  /** The received part of an incomplete line, and its length. */
  let room = nothing
  let size = 0
  let isOver = false
  let hasLeft = false
  const unanswered = new Set<unknown>()
  const lines: Buffer[] = []
  let lineBytes = 0
  let isParsing = false

  function read(chunk: Buffer): void {
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      finish(chunk.subarray(from, at))
      from = at + 1
    }
    buffer(chunk.subarray(from))
  }

  function buffer(part: Buffer): void {
    const filled = size
    size += part.length
    // The rest of a line that is too long is only counted; then the line is refused.
    if (size > most) room = nothing
    else if (part.length > 0) {
      if (size > room.length) room = growBuffer(room, filled, size)
      room.set(part, filled)
    }
  }

  function finish(end: Buffer): void {
    const isComplete = size === 0
    if (!isComplete) buffer(end)
    const isTooLong = Math.max(size, end.length) > most
    const line = isComplete ? end : room.subarray(0, size)
    size = 0
    if (room.length > maxRetainedBytes) room = nothing
    if (isTooLong) return replyError(-32600, `Message too large: the limit is ${most} bytes.`)
    enqueue(line)
  }

  /** Reading resumes when few enough lines are queued. */
  function enqueue(line: Buffer): void {
    if (isBlank(line)) return
    lines.push(Buffer.from(line))
    lineBytes += line.length
    if (lines.length >= maxLines || lineBytes >= maxLineBytes) stream.pause()
    if (!isParsing) void parseLines()
  }

  async function parseLines(): Promise<void> {
    isParsing = true
    for (let line = lines[0]; line && !isOver; line = lines[0]) {
      // The parser may transfer the bytes to a thread.
      const { length } = line
      const id = findId(line)
      const value = await parse(line).then(
        (parsed) => ({ parsed }),
        (error: unknown) => ({ error }),
      )
      lines.shift()
      lineBytes -= length
      if (isOver) break
      if ('error' in value) refuse(value.error, id)
      else deliver(value.parsed)
      if (lines.length < maxLines && lineBytes < maxLineBytes && !stream.writableNeedDrain)
        stream.resume()
    }
    isParsing = false
    if (hasLeft) onClientEnd()
  }

  /** The error contains the request id: without it, a client would wait for its own timeout. */
  function refuse(error: unknown, id: string | number | undefined): void {
    if (!(error instanceof CoworkError)) throw error
    onRefused?.(error)
    const { code, message, hint = '' } = error
    const rpcCode = code === 'invalid_json' ? -32700 : -32600
    const text =
      code === 'invalid_json' ? 'The line is not valid JSON.' : `${message} ${hint}`.trim()
    const isKnown = code !== 'invalid_json' && id !== undefined
    replyError(rpcCode, text, isKnown ? { id } : undefined, { code, message, hint })
  }

  function deliver(value: unknown): void {
    if (take?.(value)) return trackRequest(value as ClientMessage)
    try {
      const message = parseJSONRPCMessage(value)
      if ('method' in message) trackRequest(message)
      transport.onmessage?.(message)
    } catch {
      replyError(
        -32600,
        Array.isArray(value)
          ? 'Batches are not supported: send one message per line.'
          : 'The line is not a JSON-RPC 2.0 message.',
        value,
      )
    }
  }

  /** Tracks open requests, except subscriptions, which stay open as long as the client. */
  function trackRequest(message: ClientMessage): void {
    if (message.method === 'notifications/cancelled')
      unanswered.delete((message.params as { readonly requestId?: unknown } | undefined)?.requestId)
    else if (message.id !== undefined && message.method !== 'subscriptions/listen')
      unanswered.add(message.id)
  }

  function replyError(code: number, message: string, about?: unknown, data?: object): void {
    write({
      jsonrpc: '2.0',
      id: getRequestId(about),
      error: { code, message, ...(data && { data }) },
    })
  }

  function write(message: object): void {
    let hasRoom = true
    for (const piece of encodeJsonLine(message)) hasRoom = stream.write(piece)
    // A client that does not read its responses is not read from.
    if (hasRoom || stream.isPaused()) return
    stream.pause()
    stream.once('drain', () => stream.resume())
  }

  const close = () => {
    if (isOver) return
    isOver = true
    stream.off('data', read)
    stream.end()
    transport.onclose?.()
    ended.resolve()
  }

  function onClientEnd(): void {
    hasLeft = true
    if (isParsing) return
    if (unanswered.size === 0) close()
    else setTimeout(close, drainTimeoutMs).unref()
  }

  const transport: LineTransport = {
    ended: ended.promise,
    start() {
      stream.on('data', read)
      stream.on('error', (error) => transport.onerror?.(error))
      stream.once('end', onClientEnd)
      stream.once('close', close)
      // The handshake reader has paused the stream.
      stream.resume()
      return Promise.resolve()
    },
    send(message) {
      if (isOver) return Promise.resolve()
      // The rejection tells the SDK that the client no longer receives notifications.
      if (isChangeNotification(message) && hearsNews?.() === false)
        return Promise.reject(new Error('The client no longer has access to this subscription.'))
      write(message)
      if (!('method' in message)) {
        unanswered.delete(message.id)
        onAnswered?.(message.id)
      }
      if (hasLeft && !isParsing && unanswered.size === 0) close()
      return Promise.resolve()
    },
    close: () => Promise.resolve(close()),
  }
  return transport
}
