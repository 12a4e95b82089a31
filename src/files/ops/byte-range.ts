/** Reads a range of bytes of a text, adjusted to character boundaries. */
import { diskBudget } from './lines.ts'
import type { Lines, Source } from './lines.ts'
import { decode, utf8Length, trimPartialCharacter } from './encoding.ts'
import type { TextEncoding } from './encoding.ts'

type ByteRange = { readonly from: number; readonly to?: number }
export type ByteChunk = Omit<Lines, 'total'> & { readonly bytes: Buffer }

/** Reads at most `maxBytes` of UTF-8 from the range. Consecutive ranges lose nothing. */
export function readRange(
  source: Source,
  range: ByteRange | undefined,
  maxBytes: number,
): ByteChunk {
  const { size, coding } = source
  const from = Math.min(range?.from ?? 0, size)
  const end = Math.min(range?.to ?? size, size)
  const readUpTo = (budget: number) => readChunk(source, from, Math.min(end, from + budget))
  const advances = ({ next }: ByteChunk) => next === undefined || next > from
  const isUtf8 = coding.encoding === 'utf-8'
  const fits = ({ bytes }: ByteChunk) =>
    isUtf8 || Buffer.byteLength(decode(bytes, coding)) <= maxBytes

  // ASCII takes two bytes in UTF-16 and one in UTF-8: try the best case first, then the budget that always fits.
  for (const budget of isUtf8 ? [maxBytes] : [maxBytes * 2, diskBudget(maxBytes, coding)]) {
    const chunk = readUpTo(budget)
    if (advances(chunk) && fits(chunk)) return chunk
  }
  // Always returns at least one character, even if it does not fit or is torn, so that reading can continue.
  const smallest = [1, 2, 3, 4].map(readUpTo).find(advances)
  return smallest ?? { from, to: end, bytes: source.read(from, end - from), next: end }
}

function readChunk({ read, size, coding }: Source, start: number, to: number): ByteChunk {
  const raw = read(start, Math.max(0, to - start))
  const skipped = Math.min(raw.length, start === 0 ? 0 : countTornBytes(read, raw, start, coding))
  const whole = raw.subarray(skipped)
  const bytes = start + raw.length < size ? trimTornEnd(whole, coding) : whole
  const from = start + skipped
  const next = from + bytes.length
  return { from, to: next, bytes, ...(next < size && { next }) }
}

function countTornBytes(
  read: Source['read'],
  bytes: Buffer,
  position: number,
  { encoding }: TextEncoding,
): number {
  if (encoding.startsWith('utf-16')) return position % 2
  if (encoding !== 'utf-8' || !isContinuationByte(bytes[0])) return 0
  const before = read(Math.max(0, position - 3), Math.min(3, position))
  const torn = before.subarray(trimPartialCharacter(before).length)
  if (torn.length === 0) return 0
  // In a legacy encoding the bytes may only look like UTF-8.
  const missing = utf8Length(torn[0] ?? 0) - torn.length
  const rest = read(position, missing)
  return rest.length === missing && rest.every(isContinuationByte) ? missing : 0
}

const isContinuationByte = (byte = 0): boolean => (byte & 0xc0) === 0x80

function trimTornEnd(bytes: Buffer, { encoding }: TextEncoding): Buffer {
  if (encoding === 'utf-8') return trimPartialCharacter(bytes)
  if (encoding.startsWith('utf-16')) {
    const even = bytes.subarray(0, bytes.length - (bytes.length % 2))
    const high = even.at(encoding === 'utf-16le' ? -1 : -2) ?? 0
    return high >= 0xd8 && high < 0xdc ? even.subarray(0, -2) : even
  }
  // Legacy multi-byte encodings: complete if it decodes. A character has at most four bytes.
  for (let back = 0; back < Math.min(4, bytes.length); back++) {
    const shorter = bytes.subarray(0, bytes.length - back)
    if (canDecode(shorter, encoding)) return shorter
  }
  return bytes
}

function canDecode(bytes: Buffer, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
