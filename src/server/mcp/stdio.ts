import type { Duplex } from 'node:stream'
import { parseJSONRPCMessage } from '@modelcontextprotocol/server'
import type { Server, Transport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { maxFileBodyBytes, parseJson } from '../limits.ts'
import { encodeJsonLine } from './json-line.ts'
import { getRequestId } from './replies.ts'

/** Who asks and leaves gets what can be answered in this time; what takes longer is stopped (SV14). */
const lastAnswersMs = 1000

/** Serves one stdio connection: its first message decides the era. Ends when either side does. */
export async function serveStdioLines(
  transport: LineTransport,
  log: Log,
  newServer: () => Server,
): Promise<void> {
  const handle = serveStdio(newServer, {
    transport,
    onerror: (error) => log.debug('a stdio connection had trouble', { error: error.message }),
  })
  await transport.ended
  await handle.close()
}

const nothing: Buffer = Buffer.alloc(0)
/** A client with more than this waiting is not read from. */
const maxLines = 64
const maxLineBytes = 1024 * 1024
/** Room for long lines that is kept for the next. */
const keptBytes = 4 * 1024 * 1024

/** Twice the room at least, so that a long line is not copied with every chunk. */
function larger(room: Buffer, filled: number, size: number): Buffer {
  const next = Buffer.allocUnsafeSlow(Math.max(size, 2 * room.length))
  next.set(room.subarray(0, filled))
  return next
}

const parseLine = async (line: Buffer) => parseJson(line.toString('utf8'))

/** A line of white space is no message; only a short one is worth the look. */
const isBlank = (line: Buffer) => line.length < 64 && line.toString('utf8').trim() === ''

const idPattern = String.raw`"id"\s*:\s*(-?(?:0|[1-9]\d{0,15})|"[^"\\\0-\x1f]{0,200}")`
const version = String.raw`"jsonrpc"\s*:\s*"2\.0"`
const idAtStart = new RegExp(String.raw`^\s*\{\s*(?:${version}\s*,\s*)?${idPattern}\s*,`)
const idAtEnd = new RegExp(String.raw`,\s*${idPattern}\s*(?:,\s*${version}\s*)?\}\s*$`)

/** The id of a request that is not parsed, where it is the first or the last member, as clients write it. */
function findId(line: Buffer): string | number | undefined {
  const text =
    idAtStart.exec(line.toString('utf8', 0, 300))?.[1] ??
    idAtEnd.exec(line.toString('utf8', Math.max(0, line.length - 300)))?.[1]
  return text === undefined ? undefined : (JSON.parse(text) as string | number)
}

const isNews = (message: object): boolean =>
  'method' in message && /^notifications\/(resources|tools|prompts)\//.test(String(message.method))

type Asked = { readonly method: string; readonly id?: unknown; readonly params?: unknown }

export type LineTransport = Transport & { readonly ended: Promise<void> }

type LineOptions = {
  readonly most?: number
  /** Parses one line after the other. */
  parse?(line: Buffer): Promise<unknown>
  /** Who takes a message before the SDK sees it says so. */
  take?(message: unknown): boolean
  /** A request has its answer. */
  onAnswered?(id: unknown): void
  /** A line was refused before it was a message. */
  onRefused?(error: CoworkError): void
  /** Whether the client may still be told of what it once asked to hear of. */
  hearsNews?(): boolean
}

/**
 * One JSON-RPC message a line. The SDK's own transport is silent about a line it cannot read and re-copies
 * its buffer with every chunk; this one answers, and goes on with the next line. Only this user can open the
 * socket, so every line may be as long as a file is (SV25).
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
  /** What has come of a line whose end has not, and how much of the room is filled. */
  let room = nothing
  let size = 0
  let isOver = false
  let hasLeft = false
  const unanswered = new Set<unknown>()
  /** Lines that wait to be parsed, and their bytes. */
  const lines: Buffer[] = []
  let lineBytes = 0
  let isParsing = false

  function read(chunk: Buffer): void {
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      finish(chunk.subarray(from, at))
      from = at + 1
    }
    keep(chunk.subarray(from))
  }

  function keep(part: Buffer): void {
    const filled = size
    size += part.length
    // The rest of a line that is too long is only counted, then refused as a whole.
    if (size > most) room = nothing
    else if (part.length > 0) {
      if (size > room.length) room = larger(room, filled, size)
      room.set(part, filled)
    }
  }

  function finish(end: Buffer): void {
    const isWhole = size === 0
    if (!isWhole) keep(end)
    const isTooLong = Math.max(size, end.length) > most
    const line = isWhole ? end : room.subarray(0, size)
    size = 0
    if (room.length > keptBytes) room = nothing
    if (isTooLong)
      return complain(-32600, `A message may have ${most} bytes, and this one has more.`)
    enqueue(line)
  }

  /** The client is read from again when few enough lines wait. */
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
      // Whoever parses it may hand its bytes to a thread.
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
    if (hasLeft) leave()
  }

  /** The answer names the request: a client would wait for one without an id until its own timeout. */
  function refuse(error: unknown, id: string | number | undefined): void {
    if (!(error instanceof CoworkError)) throw error
    onRefused?.(error)
    const { code, message, hint = '' } = error
    const rpcCode = code === 'invalid_json' ? -32700 : -32600
    const said = code === 'invalid_json' ? 'The line is not JSON.' : `${message} ${hint}`.trim()
    const isKnown = code !== 'invalid_json' && id !== undefined
    complain(rpcCode, said, isKnown ? { id } : undefined, { code, message, hint })
  }

  function deliver(value: unknown): void {
    if (take?.(value)) return asked(value as Asked)
    try {
      const message = parseJSONRPCMessage(value)
      if ('method' in message) asked(message)
      transport.onmessage?.(message)
    } catch {
      complain(
        -32600,
        Array.isArray(value)
          ? 'Batches are not taken here: send one message a line.'
          : 'The line is not a JSON-RPC 2.0 message.',
        value,
      )
    }
  }

  /** Not what stays open for as long as the client does. */
  function asked(message: Asked): void {
    if (message.method === 'notifications/cancelled')
      unanswered.delete((message.params as { readonly requestId?: unknown } | undefined)?.requestId)
    else if (message.id !== undefined && message.method !== 'subscriptions/listen')
      unanswered.add(message.id)
  }

  function complain(code: number, message: string, about?: unknown, data?: object): void {
    write({
      jsonrpc: '2.0',
      id: getRequestId(about),
      error: { code, message, ...(data && { data }) },
    })
  }

  function write(message: object): void {
    let hasRoom = true
    for (const piece of encodeJsonLine(message)) hasRoom = stream.write(piece)
    // Who does not read its answers is not asked for more questions.
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

  function leave(): void {
    hasLeft = true
    if (isParsing) return
    if (unanswered.size === 0) close()
    else setTimeout(close, lastAnswersMs).unref()
  }

  const transport: LineTransport = {
    ended: ended.promise,
    start() {
      stream.on('data', read)
      stream.on('error', (error) => transport.onerror?.(error))
      stream.once('end', leave)
      stream.once('close', close)
      // Whoever read the hello before us has paused it.
      stream.resume()
      return Promise.resolve()
    },
    send(message) {
      if (isOver) return Promise.resolve()
      // Who subscribed for it learns that there is nobody to tell.
      if (isNews(message) && hearsNews?.() === false)
        return Promise.reject(new Error('The client may not hear of it any more.'))
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
