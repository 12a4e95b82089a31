import { randomHex } from '#base/ids.ts'

/** A text beyond this goes out in pieces. */
const longText = 128 * 1024
const pieceLength = 64 * 1024

/** What of an answer may be long: the first block of a tool's result. */
type Answer = { readonly result?: { readonly content?: unknown } }
type Block = { readonly text?: unknown }

/**
 * A message as one line of JSON, in pieces to be written one after the other: the other side reads the first of
 * a long text while the next are still being spelled, and none of it is copied to make one string of all.
 */
export function* lineOf(message: object): Generator<string> {
  const { result } = message as Answer
  const content: readonly unknown[] = Array.isArray(result?.content) ? result.content : []
  const [first, ...rest] = content
  const text = (first as Block | undefined)?.text
  if (typeof text !== 'string' || text.length <= longText) {
    yield `${JSON.stringify(message)}\n`
    return
  }
  // Nobody could have written it anywhere else in the message.
  const mark = randomHex(16)
  const marked = { ...(first as Block), text: mark }
  const outline = JSON.stringify({ ...message, result: { ...result, content: [marked, ...rest] } })
  const [before = '', after = ''] = outline.split(mark)
  yield before
  // Half of a character at the edge of a piece is written as an escape, and read as what it was.
  for (let at = 0; at < text.length; at += pieceLength)
    yield JSON.stringify(text.slice(at, at + pieceLength)).slice(1, -1)
  yield `${after}\n`
}
