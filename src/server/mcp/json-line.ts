import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/server'
import { randomHex } from '#base/ids.ts'
import { toErrorResult } from './results.ts'

/** A text beyond this goes out in pieces. */
const longText = 128 * 1024
const pieceLength = 64 * 1024

/** On a longer line the SDK's client hangs up; in one chunk with its end may come the start of the next. */
const mostBytes = STDIO_DEFAULT_MAX_BUFFER_SIZE - 128 * 1024
/** A letter may take so many bytes: `\u0001`. */
const longestLetter = 6

/** What of an answer may be long: the first block of a tool's result. */
type Answer = { readonly id?: unknown; readonly result?: { readonly content?: unknown } }
type Block = { readonly text?: unknown }

/**
 * A message as one line of JSON, in pieces to be written one after the other: the other side reads the first of
 * a long text while the next are still being spelled, and none of it is copied to make one string of all.
 */
export function* encodeJsonLine(message: object): Generator<string> {
  const { result } = message as Answer
  const content: readonly unknown[] = Array.isArray(result?.content) ? result.content : []
  const [first, ...rest] = content
  const text = (first as Block | undefined)?.text
  if (typeof text !== 'string' || text.length <= longText) {
    const line = JSON.stringify(message)
    yield `${result && !fits([line]) ? JSON.stringify(refusalOf(message)) : line}\n`
    return
  }
  // Nobody could have written it anywhere else in the message.
  const mark = randomHex(16)
  const marked = { ...(first as Block), text: mark }
  const outline = JSON.stringify({ ...message, result: { ...result, content: [marked, ...rest] } })
  const [before = '', after = ''] = outline.split(mark)
  const isSurelyShort = (outline.length + text.length) * longestLetter <= mostBytes
  if (isSurelyShort || fits(spelt(before, text, after))) yield* spelt(before, text, after)
  else yield `${JSON.stringify(refusalOf(message))}\n`
}

function* spelt(before: string, text: string, after: string): Generator<string> {
  yield before
  // Half of a character at the edge of a piece is written as an escape, and read as what it was.
  for (let at = 0; at < text.length; at += pieceLength)
    yield JSON.stringify(text.slice(at, at + pieceLength)).slice(1, -1)
  yield `${after}\n`
}

function fits(pieces: Iterable<string>): boolean {
  let bytes = 0
  for (const piece of pieces) if ((bytes += Buffer.byteLength(piece)) > mostBytes) return false
  return true
}

/** In place of an answer that is too long. */
function refusalOf({ id, result }: Answer) {
  const message = `The answer is longer than the ${mostBytes} bytes that clients take over stdio.`
  const hint = 'Ask for less at once: a smaller max_bytes or limit, or fewer files.'
  if (!Array.isArray(result?.content))
    return { jsonrpc: '2.0', id, error: { code: -32000, message: `${message} ${hint}` } }
  return { jsonrpc: '2.0', id, result: toErrorResult({ code: 'too_large', message, hint }) }
}
