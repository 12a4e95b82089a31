/** Frames between the daemon and its worker: a JSON head and a binary body, each with its length in the prefix. */

export type Frame = { readonly head: unknown; readonly body: Buffer }

export type FrameLimits = { readonly head: number; readonly body: number }

/** Two lengths of four bytes: the head's and the body's. */
const prefixBytes = 8
const emptyBody = Buffer.alloc(0)

/** Returns two chunks, so that the body is not copied. */
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
 * Passes each frame on when it is complete. A length over the limit throws before memory is allocated, and a head
 * that is not JSON throws too: the other side is not trusted any further.
 */
export function createFrameReader(limits: FrameLimits, onFrame: (frame: Frame) => void) {
  let headLength = 0
  let isPrefix = true
  /** The part being read; `filled` counts its bytes so far. It is allocated once, and each byte is copied once. */
  let part = Buffer.allocUnsafe(prefixBytes)
  let filled = 0

  function completePart(): void {
    if (isPrefix) {
      headLength = part.readUInt32BE(0)
      const bodyLength = part.readUInt32BE(4)
      if (headLength > limits.head || bodyLength > limits.body)
        throw new Error(`frame too large: head ${headLength} bytes, body ${bodyLength} bytes`)
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

  /** Does not keep the chunk after it returns. */
  return function read(chunk: Uint8Array): void {
    for (let offset = 0; offset < chunk.length;) {
      const end = Math.min(chunk.length, offset + part.length - filled)
      part.set(chunk.subarray(offset, end), filled)
      filled += end - offset
      offset = end
      while (filled === part.length) {
        filled = 0
        completePart()
      }
    }
  }
}
