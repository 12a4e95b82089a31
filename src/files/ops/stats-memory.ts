/** Memory of two threads that share the looks at many entries. */
import type { Stat } from '../worker/protocol.ts'
import type { Seen } from './folders.ts'

/** So many entries are taken at a time: at the end a thread waits for no more than these. */
const pieceLength = 16
const types: readonly Stat['type'][] = ['file', 'folder', 'link', 'other']
const headBytes = 2 * Int32Array.BYTES_PER_ELEMENT
const numbersEach = 3

export const memoryFor = (count: number): SharedArrayBuffer =>
  new SharedArrayBuffer(headBytes + count * numbersEach * Float64Array.BYTES_PER_ELEMENT)

/**
 * One thread takes pieces from the front and the other from the back, until there are none. Each list has memory of
 * its own: who comes to it late finds nothing to take, and who is late with a piece writes where nobody reads.
 */
export function piecesIn(memory: SharedArrayBuffer) {
  const head = new Int32Array(memory, 0, 2)
  const numbers = new Float64Array(memory, headBytes)
  const count = numbers.length / numbersEach
  const pieces = Math.ceil(count / pieceLength)
  return {
    count: pieces,
    take: (): boolean => Atomics.add(head, 0, 1) < pieces,
    /** Where the pieces end that were taken from the front. */
    endOf: (front: number): number => Math.min(front * pieceLength, count),
    /** Where those begin that were taken from the back. */
    beginOf: (back: number): number => (pieces - back) * pieceLength,
    /** One more from the back is done. */
    finish(): void {
      Atomics.add(head, 1, 1)
      Atomics.notify(head, 1)
    },
    /** How many from the back are done: all that are not from the front, unless that takes too long. */
    finished(front: number, ms: number): number {
      const until = performance.now() + ms
      for (;;) {
        const done = Atomics.load(head, 1)
        const left = until - performance.now()
        if (front + done >= pieces || left <= 0) return done
        Atomics.wait(head, 1, done, left)
      }
    },
    write(at: number, { type, size, modifiedAt }: Seen): void {
      const first = at * numbersEach
      numbers[first] = types.indexOf(type) + 1
      numbers[first + 1] = size
      numbers[first + 2] = modifiedAt
    },
    /** Undefined for what was not written. */
    read(at: number): Seen | undefined {
      const first = at * numbersEach
      const type = types[(numbers[first] ?? 0) - 1]
      return type && { type, size: numbers[first + 1] ?? 0, modifiedAt: numbers[first + 2] ?? 0 }
    },
  }
}
