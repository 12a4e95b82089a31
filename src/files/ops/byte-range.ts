/** A piece of a text by bytes on disk, moved to where characters begin. */
import { diskBudget } from './lines.ts'
import type { Lines, Source } from './lines.ts'
import { decode, lengthOfUtf8, trimPartialCharacter } from './encoding.ts'
import type { TextEncoding } from './encoding.ts'

type ByteRange = { readonly from: number; readonly to?: number }
export type ByteChunk = Omit<Lines, 'total'> & { readonly bytes: Buffer }

/** From a byte on to before another, as much as fits in so many bytes of UTF-8. Pieces in a row lose nothing. */
export function readRange(source: Source, range: ByteRange | undefined, most: number): ByteChunk {
  const { size, coding } = source
  const from = Math.min(range?.from ?? 0, size)
  const end = Math.min(range?.to ?? size, size)
  const upTo = (budget: number) => pieceBetween(source, from, Math.min(end, from + budget))
  const goesOn = ({ next }: ByteChunk) => next === undefined || next > from
  const isUtf8 = coding.encoding === 'utf-8'
  const fits = ({ bytes }: ByteChunk) => isUtf8 || Buffer.byteLength(decode(bytes, coding)) <= most

  // Plain letters take two bytes in UTF-16 and one in UTF-8: at best so much fits, and surely the other.
  for (const budget of isUtf8 ? [most] : [most * 2, diskBudget(most, coding)]) {
    const piece = upTo(budget)
    if (goesOn(piece) && fits(piece)) return piece
  }
  // One character is given even where none fits, torn where the range ends within: there is always a way on.
  const smallest = [1, 2, 3, 4].map(upTo).find(goesOn)
  return smallest ?? { from, to: end, bytes: source.read(from, end - from), next: end }
}

function pieceBetween({ read, size, coding }: Source, wanted: number, to: number): ByteChunk {
  const raw = read(wanted, Math.max(0, to - wanted))
  const skipped = Math.min(raw.length, wanted === 0 ? 0 : tornStart(read, raw, wanted, coding))
  const whole = raw.subarray(skipped)
  const bytes = wanted + raw.length < size ? withoutTear(whole, coding) : whole
  const from = wanted + skipped
  const next = from + bytes.length
  return { from, to: next, bytes, ...(next < size && { next }) }
}

function tornStart(
  read: Source['read'],
  bytes: Buffer,
  position: number,
  { encoding }: TextEncoding,
): number {
  if (encoding.startsWith('utf-16')) return position % 2
  if (encoding !== 'utf-8' || !isTrail(bytes[0])) return 0
  const before = read(Math.max(0, position - 3), Math.min(3, position))
  const torn = before.subarray(trimPartialCharacter(before).length)
  if (torn.length === 0) return 0
  // In an old encoding it may look like one and is not.
  const missing = lengthOfUtf8(torn[0] ?? 0) - torn.length
  const rest = read(position, missing)
  return rest.length === missing && rest.every(isTrail) ? missing : 0
}

const isTrail = (byte = 0): boolean => (byte & 0xc0) === 0x80

function withoutTear(bytes: Buffer, { encoding }: TextEncoding): Buffer {
  if (encoding === 'utf-8') return trimPartialCharacter(bytes)
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
