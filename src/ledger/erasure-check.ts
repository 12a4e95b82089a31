import type { UnverifiedEntry } from './chain-verifier.ts'

/**
 * Compares payloads with the recorded erasures (L8): finds payloads that are missing without an erasure and payloads that
 * exist although they were erased. Uses one bit per entry, because there may be millions.
 */
export function createErasureCheck() {
  const missing = createBits()
  const present = createBits()
  const restored: number[] = []
  /** All entries up to this seq are checked. */
  let checkedUpTo = 0

  function markErased(seq: number) {
    missing.clear(seq)
    if (!present.has(seq)) return
    present.clear(seq)
    restored.push(seq)
  }

  return {
    missing: missing.set,
    present: present.set,

    /** Reads the erasures that an entry records. */
    read(seq: number, type: unknown, { subject, data }: UnverifiedEntry) {
      if (type === 'payload.erased') {
        const erased = typeof subject === 'string' ? Number(subject) : 0
        if (erased > 0 && erased < seq) markErased(erased)
      } else if (type === 'payload.expired') {
        const upTo = typeof data === 'object' && data !== null && Reflect.get(data, 'up_to_seq')
        if (typeof upTo !== 'number' || upTo <= 0) return
        const last = Math.min(Math.floor(upTo), seq - 1)
        for (let at = checkedUpTo; at <= last; at++) markErased(at)
        checkedUpTo = Math.max(checkedUpTo, last)
      }
    },

    /** Lists the first payloads that are missing without an erasure. */
    listMissing: (limit: number): number[] => missing.first(checkedUpTo, limit),
    /** Lists the first payloads that exist although an entry records their erasure. */
    listRestored: (limit: number): number[] => restored.toSorted((a, b) => a - b).slice(0, limit),
  }
}

function createBits() {
  let bits = new Uint8Array(1024)
  const byteOf = (seq: number) => Math.floor(seq / 8)
  const has = (seq: number) => ((bits[byteOf(seq)] ?? 0) & (1 << (seq % 8))) !== 0
  return {
    has,
    set(seq: number) {
      const byte = byteOf(seq)
      if (byte >= bits.length) {
        const larger = new Uint8Array(Math.max(byte + 1, bits.length * 2))
        larger.set(bits)
        bits = larger
      }
      bits[byte] = (bits[byte] ?? 0) | (1 << (seq % 8))
    },
    clear(seq: number) {
      const byte = byteOf(seq)
      if (byte < bits.length) bits[byte] = (bits[byte] ?? 0) & ~(1 << (seq % 8))
    },
    first(from: number, limit: number): number[] {
      const seqs: number[] = []
      for (let seq = from; seq < bits.length * 8 && seqs.length < limit; seq++)
        if (has(seq)) seqs.push(seq)
      return seqs
    },
  }
}
