/** Detects and converts text encodings. Bytes that are not certainly text are treated as binary. */
import { isUtf8 } from 'node:buffer'
import { sanitizeText } from '#base/sanitize.ts'
import { unifiedDiff } from '#base/unified-diff.ts'
import { FileError } from '../confine/file-error.ts'

/** The encoding of a text by its WHATWG name, and its byte order mark. */
export type TextEncoding = { readonly encoding: string; readonly mark: Buffer }

const noMark = Buffer.alloc(0)
export const utf8: TextEncoding = { encoding: 'utf-8', mark: noMark }

const markedEncodings: readonly TextEncoding[] = [
  { encoding: 'utf-8', mark: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: 'utf-16le', mark: Buffer.from([0xff, 0xfe]) },
  { encoding: 'utf-16be', mark: Buffer.from([0xfe, 0xff]) },
]

export const sampleBytes = 64 * 1024

/** Detects a Unicode encoding. If the bytes are a sample, they may end within a character. */
export function detectUnicode(bytes: Buffer, isWhole = true): TextEncoding | undefined {
  const match = markedEncodings.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark))
  if (match && isValidText(bytes.subarray(match.mark.length), match.encoding, isWhole)) return match
  if (isUtf8(isWhole ? bytes : trimPartialCharacter(bytes)) && !bytes.includes(0)) return utf8
  return detectUnmarkedUtf16(bytes, isWhole)
}

function isValidText(bytes: Buffer, encoding: string, isWhole: boolean): boolean {
  const text = tryDecode(bytes, encoding, isWhole)
  return text !== undefined && !text.includes('\0')
}

function tryDecode(bytes: Buffer, encoding: string, isWhole: boolean): string | undefined {
  try {
    const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
    return decoder.decode(bytes, { stream: !isWhole })
  } catch {
    return undefined
  }
}

export function trimPartialCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    return back < utf8Length(byte) ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** Returns the length of a multi-byte character from its first byte. */
export const utf8Length = (lead: number): number => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2)

/** Characters that a text does not contain: controls, unassigned and private-use code points. */
const nonTextPattern = /[\p{Cn}\p{Co}]|(?![\t\n\f\r])\p{Cc}/u

/**
 * Detects UTF-16 without a mark: each zero byte belongs to a Latin letter, nearly all of them on the same side; half
 * of all characters are such letters, or the others are of one alphabet; and the bytes decode as text.
 */
function detectUnmarkedUtf16(bytes: Buffer, isWhole: boolean): TextEncoding | undefined {
  if (bytes.length < 4 || (isWhole && bytes.length % 2 !== 0)) return undefined
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2))
  let [little, big] = [0, 0]
  const highs = { le: new Uint32Array(256), be: new Uint32Array(256) }
  for (let index = 0; index < even.length; index += 2) {
    const [first = 0, second = 0] = [even[index], even[index + 1]]
    if (first !== 0 && second !== 0) {
      highs.le[second] = (highs.le[second] ?? 0) + 1
      highs.be[first] = (highs.be[first] ?? 0) + 1
    } else if (isLetter(first)) little++
    else if (isLetter(second)) big++
    else return undefined
  }
  const [letters, others] = [Math.max(little, big), Math.min(little, big)]
  const rest = even.length / 2 - letters
  const alphabet = Math.max(...(little > big ? highs.le : highs.be))
  const isLikely = letters > rest || (letters * 10 > rest && alphabet * 2 > rest)
  if (!isLikely || others * 10 > letters) return undefined
  const encoding = little > big ? 'utf-16le' : 'utf-16be'
  const text = tryDecode(even, encoding, isWhole)
  return text === undefined || nonTextPattern.test(text) ? undefined : { encoding, mark: noMark }
}

/** Letters of the languages whose UTF-16 has a zero byte. */
const isLetter = (byte: number) => isAscii(byte) || byte >= 0xa0

const isAscii = (byte: number) =>
  (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d

/** A guess with less confidence is worthless. */
const minConfidence = 10

/** Detects a legacy encoding that can also be written back. */
export async function detectLegacy(
  bytes: Buffer,
  isWhole = true,
): Promise<TextEncoding | undefined> {
  // The sample starts a little before the first non-ASCII byte.
  const start = Math.max(0, bytes.findIndex((byte) => byte >= 0x80) - 1024)
  const sample = bytes.subarray(start, start + sampleBytes)
  if (bytes.length === 0 || bytes.includes(0) || hasControls(sample)) return undefined
  const [{ analyse }, iconv] = await Promise.all([import('chardet'), loadIconv()])
  const guesses = analyse(sample).filter(({ confidence }) => confidence >= minConfidence)
  for (const { name } of guesses) {
    const encoding = toWebName(name)
    if (encoding === undefined || !iconv.encodingExists(encoding)) continue
    // A character may be torn at the end of the sample.
    const text = tryDecode(sample, encoding, isWhole && start + sample.length === bytes.length)
    if (text !== undefined && !nonTextPattern.test(text)) return { encoding, mark: noMark }
  }
  return isMostlyAscii(sample) ? defaultLegacy : undefined
}

/** The most common encoding, for texts too short to detect. */
const defaultLegacy: TextEncoding = { encoding: 'windows-1252', mark: noMark }

function isMostlyAscii(bytes: Buffer): boolean {
  const high = bytes.reduce((count, byte) => count + Number(byte >= 0x80), 0)
  const text = tryDecode(bytes, defaultLegacy.encoding, true)
  return high * 3 <= bytes.length && text !== undefined && !nonTextPattern.test(text)
}

const loadIconv = async () => (await import('iconv-lite')).default

/** More than one control in fifty bytes means binary; escapes and form feeds are allowed. */
function hasControls(bytes: Buffer): boolean {
  let count = 0
  for (const byte of bytes)
    if (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) count++
  return count * 50 > bytes.length
}

function toWebName(name: string): string | undefined {
  try {
    return new TextDecoder(name).encoding
  } catch {
    return undefined
  }
}

export async function detectEncoding(
  bytes: Buffer,
  isWhole = true,
): Promise<TextEncoding | undefined> {
  return detectUnicode(bytes, isWhole) ?? (await detectLegacy(bytes, isWhole))
}

/** Returns the text without the mark. Undecodable bytes become U+FFFD. */
export function decode(bytes: Buffer, { encoding, mark }: TextEncoding): string {
  const body = bytes.subarray(0, mark.length).equals(mark) ? bytes.subarray(mark.length) : bytes
  return encoding === 'utf-8'
    ? body.toString('utf8')
    : new TextDecoder(encoding, { ignoreBOM: true }).decode(body)
}

/** Encodes a text so that it decodes to the same text. Refuses a character that the encoding lacks. */
export async function encode(text: string, coding: TextEncoding): Promise<Buffer> {
  const iconv = coding.encoding === 'utf-8' ? undefined : await loadIconv()
  const body = iconv ? iconv.encode(text, coding.encoding, { addBOM: false }) : Buffer.from(text)
  const bytes = coding.mark.length === 0 ? body : Buffer.concat([coding.mark, body])
  // UTF-8 encodes every character; only a lone surrogate would be lost.
  if (iconv ? decode(bytes, coding) === text : text.isWellFormed()) return bytes
  throw new FileError(
    'not_text',
    iconv
      ? `The text has characters that the encoding of the file, ${coding.encoding}, does not support.`
      : 'The text contains a lone surrogate.',
  )
}

/** Resolves an encoding name. UTF-16 gets a mark, because it cannot be detected reliably without one. */
export async function getEncoding(name: string): Promise<TextEncoding> {
  const encoding = toWebName(name)
  if (encoding === undefined || !(await loadIconv()).encodingExists(encoding))
    throw new FileError('unknown_encoding', 'Unknown encoding. Use utf-8.')
  if (encoding === 'utf-8') return utf8
  return (
    markedEncodings.find((coding) => coding.encoding === encoding) ?? { encoding, mark: noMark }
  )
}

/** Larger diffs are not useful to read and slow to build and send. */
const limits = { maxCompared: 8_000_000, maxShown: 100_000 }

/** Returns a unified diff, empty if the texts are equal; undefined if lines cannot show it or it is too large. */
export function textDiff(
  from: string,
  to: string,
  name: string,
  otherName = name,
): string | undefined {
  if (from === to) return ''
  // Sanitized, because a name must not add a line to the diff.
  const sides = [
    { name: sanitizeText(name), text: from },
    { name: sanitizeText(otherName), text: to },
  ] as const
  return unifiedDiff(...sides, limits) || undefined
}

export async function decodeText(bytes: Buffer): Promise<string | undefined> {
  const coding = await detectEncoding(bytes)
  return coding && decode(bytes, coding)
}
