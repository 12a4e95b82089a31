import type { Parsed } from './chain.ts'

/**
 * Which payloads are missing without a word (L8). One bit for each entry, as there may be millions: whatever
 * is missing waits for a later entry that says it was erased.
 */
export function createErasures() {
  let bits = new Uint8Array(1024)
  /** Up to this seq all is settled. */
  let settled = 0

  const byteOf = (seq: number) => Math.floor(seq / 8)

  function settle(seq: number) {
    const byte = byteOf(seq)
    bits[byte] = (bits[byte] ?? 0) & ~(1 << (seq % 8))
  }

  function settleUpTo(seq: number) {
    const [from, to] = [byteOf(settled), byteOf(seq + 1)]
    if (from < to) bits.fill(0, from, to)
    for (let at = Math.max(settled, to * 8); at <= seq; at++) settle(at)
    settled = Math.max(settled, seq)
  }

  return {
    missing(seq: number) {
      const byte = byteOf(seq)
      if (byte >= bits.length) {
        const larger = new Uint8Array(Math.max(byte + 1, bits.length * 2))
        larger.set(bits)
        bits = larger
      }
      bits[byte] = (bits[byte] ?? 0) | (1 << (seq % 8))
    },

    /** What an entry says of those before it. */
    read(seq: number, type: unknown, { subject, data }: Parsed) {
      if (type === 'payload.erased') {
        const erased = typeof subject === 'string' ? Number(subject) : 0
        if (erased > 0 && erased < seq) settle(erased)
      } else if (type === 'payload.expired') {
        const upTo = typeof data === 'object' && data !== null && Reflect.get(data, 'up_to_seq')
        if (typeof upTo === 'number' && upTo > 0) settleUpTo(Math.min(Math.floor(upTo), seq - 1))
      }
    },

    /** The first so many that are missing still. */
    left(most: number): number[] {
      const found: number[] = []
      for (let seq = settled; seq < bits.length * 8 && found.length < most; seq++)
        if (((bits[byteOf(seq)] ?? 0) & (1 << (seq % 8))) !== 0) found.push(seq)
      return found
    },
  }
}
