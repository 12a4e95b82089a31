/** A piece of a text by bytes on disk, moved to where characters begin. */
import { diskBudget } from './lines.ts'
import type { Lines, Source } from './lines.ts'
import { withoutTornEnd } from './text.ts'
import type { Coding } from './text.ts'

type ByteRange = { readonly from: number; readonly to?: number }
export type Piece = Omit<Lines, 'total'> & { readonly bytes: Buffer }

/** From a byte on to before another, as much as fits in so many bytes of UTF-8. Pieces in a row lose nothing. */
export function pieceOf(
  { read, size, coding }: Source,
  range: ByteRange | undefined,
  most: number,
): Piece {
  const budget = Math.max(4, diskBudget(most, coding))
  const wanted = Math.min(range?.from ?? 0, size)
  const to = Math.min(range?.to ?? size, size, wanted + budget)
  const raw = read(wanted, Math.max(0, to - wanted))
  const skipped = wanted === 0 ? 0 : tornStart(raw, wanted, coding)
  const end = wanted + raw.length
  const kept = end < size ? withoutTear(raw.subarray(skipped), coding) : raw.subarray(skipped)
  // A range within one character is given torn rather than for ever empty.
  const bytes = kept.length > 0 ? kept : raw.subarray(skipped)
  const next = wanted + skipped + bytes.length
  return { from: wanted + skipped, to: next, bytes, ...(next < size && { next }) }
}

/** Bytes at the start that belong to a character before. */
function tornStart(bytes: Buffer, position: number, { encoding }: Coding): number {
  if (encoding.startsWith('utf-16')) return position % 2
  if (encoding !== 'utf-8') return 0
  let skipped = 0
  while (skipped < Math.min(3, bytes.length) && ((bytes[skipped] ?? 0) & 0xc0) === 0x80) skipped++
  return skipped
}

function withoutTear(bytes: Buffer, { encoding }: Coding): Buffer {
  if (encoding === 'utf-8') return withoutTornEnd(bytes)
  if (encoding.startsWith('utf-16')) {
    const even = bytes.subarray(0, bytes.length - (bytes.length % 2))
    const high = even.at(encoding === 'utf-16le' ? -1 : -2) ?? 0
    return high >= 0xd8 && high < 0xdc ? even.subarray(0, -2) : even
  }
  // Older encodings of more than one byte: whole when it decodes. A character has at most four.
  for (let back = 0; back < Math.min(4, bytes.length); back++) {
    const shorter = bytes.subarray(0, bytes.length - back)
    if (decodes(shorter, encoding)) return shorter
  }
  return bytes
}

function decodes(bytes: Buffer, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
