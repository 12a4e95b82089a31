/** What travels between the daemon and its worker: a head in JSON and bytes after it, each with its length before. */

export type Frame = { readonly head: unknown; readonly body: Buffer }

export type FrameLimits = { readonly head: number; readonly body: number }

/** Two lengths of four bytes: the head's and the body's. */
const prefixBytes = 8
const emptyBody = Buffer.alloc(0)

/** The frame as two pieces, so that the body is not copied. */
export function encodeFrame(
  head: unknown,
  body: Uint8Array = emptyBody,
): readonly [Buffer, Uint8Array] {
  const text = JSON.stringify(head)
  const length = Buffer.byteLength(text)
  const start = Buffer.allocUnsafe(prefixBytes + length)
  start.writeUInt32BE(length, 0)
  start.writeUInt32BE(body.byteLength, 4)
  start.write(text, prefixBytes)
  return [start, body]
}

export const isWithin = (
  { head, body }: FrameLimits,
  [start, bytes]: readonly [Buffer, Uint8Array],
): boolean => start.length - prefixBytes <= head && bytes.byteLength <= body

/**
 * Takes bytes as they come and hands on each frame once it is whole. A length beyond the limit throws before
 * any room is made for it, and so does a head that is no JSON: the other side is not to be trusted any further.
 */
export function createFrameReader(limits: FrameLimits, onFrame: (frame: Frame) => void) {
  let headLength = 0
  let isPrefix = true
  /** The part being read, and how much of it has come. Its room is made once, and every byte is copied once. */
  let part = Buffer.allocUnsafe(prefixBytes)
  let filled = 0

  function completePart(): void {
    if (isPrefix) {
      headLength = part.readUInt32BE(0)
      const bodyLength = part.readUInt32BE(4)
      if (headLength > limits.head || bodyLength > limits.body)
        throw new Error(`a frame of ${headLength} and ${bodyLength} bytes is too large`)
      isPrefix = false
      part = Buffer.allocUnsafe(headLength + bodyLength)
      return
    }
    const frame = part
    isPrefix = true
    part = Buffer.allocUnsafe(prefixBytes)
    const head: unknown = JSON.parse(frame.toString('utf8', 0, headLength))
    onFrame({ head, body: frame.subarray(headLength) })
  }

  /** The chunk is the caller's again when it returns. */
  return function read(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      const end = Math.min(chunk.length, at + part.length - filled)
      part.set(chunk.subarray(at, end), filled)
      filled += end - at
      at = end
      while (filled === part.length) {
        filled = 0
        completePart()
      }
    }
  }
}
