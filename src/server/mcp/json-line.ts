import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/server'
import { randomHex } from '#base/ids.ts'
import { toErrorResult } from './results.ts'

/** Longer texts are written in chunks. */
const minChunkedLength = 128 * 1024
const chunkLength = 64 * 1024

/**
 * The SDK's client disconnects on longer lines; a chunk with the end of the line may contain the
 * start of the next.
 */
const maxLineBytes = STDIO_DEFAULT_MAX_BUFFER_SIZE - 128 * 1024
/** The maximum of bytes for one UTF-16 unit: `\u0001`. */
const maxBytesPerUnit = 6

/** The possibly long part of a response: the first block of a tool result. */
type ToolReply = { readonly id?: unknown; readonly result?: { readonly content?: unknown } }
type Block = { readonly text?: unknown }

/**
 * Encodes a message as one line of JSON in chunks: the client reads the first chunks of a long
 * text while later ones are being encoded, and no string of the full line is built.
 */
export function* encodeJsonLine(message: object): Generator<string> {
  const { result } = message as ToolReply
  const content: readonly unknown[] = Array.isArray(result?.content) ? result.content : []
  const [first, ...rest] = content
  const text = (first as Block | undefined)?.text
  if (typeof text !== 'string' || text.length <= minChunkedLength) {
    const line = JSON.stringify(message)
    yield `${result && !fits([line]) ? JSON.stringify(tooLargeReply(message)) : line}\n`
    return
  }
  // The random placeholder occurs nowhere else in the message.
  const placeholder = randomHex(16)
  const marked = { ...(first as Block), text: placeholder }
  const outline = JSON.stringify({ ...message, result: { ...result, content: [marked, ...rest] } })
  const [before = '', after = ''] = outline.split(placeholder)
  const isSurelyShort = (outline.length + text.length) * maxBytesPerUnit <= maxLineBytes
  if (isSurelyShort || fits(encodeChunks(before, text, after)))
    yield* encodeChunks(before, text, after)
  else yield `${JSON.stringify(tooLargeReply(message))}\n`
}

function* encodeChunks(before: string, text: string, after: string): Generator<string> {
  yield before
  // JSON escapes half of a surrogate pair at the edge of a chunk, and the client decodes it
  // correctly.
  for (let at = 0; at < text.length; at += chunkLength)
    yield JSON.stringify(text.slice(at, at + chunkLength)).slice(1, -1)
  yield `${after}\n`
}

function fits(pieces: Iterable<string>): boolean {
  let bytes = 0
  for (const piece of pieces) if ((bytes += Buffer.byteLength(piece)) > maxLineBytes) return false
  return true
}

function tooLargeReply({ id, result }: ToolReply) {
  const message = `Result too large: stdio clients accept at most ${maxLineBytes} bytes.`
  const hint = 'Request less at once: a smaller max_bytes or limit, or fewer files.'
  if (!Array.isArray(result?.content))
    return { jsonrpc: '2.0', id, error: { code: -32000, message: `${message} ${hint}` } }
  return { jsonrpc: '2.0', id, result: toErrorResult({ code: 'too_large', message, hint }) }
}
