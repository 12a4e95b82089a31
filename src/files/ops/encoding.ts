/** Bytes on disk and the text they stand for. What is not certainly text is none. */
import { isUtf8 } from 'node:buffer'
import { sanitizeText } from '#base/sanitize.ts'
import { unifiedDiff } from '#base/unified-diff.ts'
import { FileError } from '../confine/file-error.ts'

/** How a text lies on disk: its encoding by its name on the web, and the byte order mark before it. */
export type TextEncoding = { readonly encoding: string; readonly mark: Buffer }

const noMark = Buffer.alloc(0)
export const utf8: TextEncoding = { encoding: 'utf-8', mark: noMark }

const marked: readonly TextEncoding[] = [
  { encoding: 'utf-8', mark: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: 'utf-16le', mark: Buffer.from([0xff, 0xfe]) },
  { encoding: 'utf-16be', mark: Buffer.from([0xfe, 0xff]) },
]

export const sampleBytes = 64 * 1024

/** The coding of a text in Unicode; the bytes may end amid a character where they are not the whole file. */
export function detectUnicode(bytes: Buffer, isWhole = true): TextEncoding | undefined {
  const found = marked.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark))
  if (found && isPlain(bytes.subarray(found.mark.length), found.encoding, isWhole)) return found
  if (isUtf8(isWhole ? bytes : trimPartialCharacter(bytes)) && !bytes.includes(0)) return utf8
  return unmarkedUtf16(bytes, isWhole)
}

function isPlain(bytes: Buffer, encoding: string, isWhole: boolean): boolean {
  const text = decodedFatally(bytes, encoding, isWhole)
  return text !== undefined && !text.includes('\0')
}

function decodedFatally(bytes: Buffer, encoding: string, isWhole: boolean): string | undefined {
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
    return back < lengthOfUtf8(byte) ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** Bytes of the character that begins with this one, which is no plain letter. */
export const lengthOfUtf8 = (lead: number): number => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2)

/** What no text has: controls, and characters that stand for nothing. */
const strange = /[\p{Cn}\p{Co}]|(?![\t\n\f\r])\p{Cc}/u

/**
 * UTF-16 without a mark: every zero byte belongs to a plain letter, nearly all on the same side; half of all are
 * such letters, or the others are of one alphabet; and the whole reads as text.
 */
function unmarkedUtf16(bytes: Buffer, isWhole: boolean): TextEncoding | undefined {
  if (bytes.length < 4 || (isWhole && bytes.length % 2 !== 0)) return undefined
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2))
  let [little, big] = [0, 0]
  const highs = { le: new Uint32Array(256), be: new Uint32Array(256) }
  for (let at = 0; at < even.length; at += 2) {
    const [first = 0, second = 0] = [even[at], even[at + 1]]
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
  const text = decodedFatally(even, encoding, isWhole)
  return text === undefined || strange.test(text) ? undefined : { encoding, mark: noMark }
}

/** Of the languages whose letters have a zero byte in UTF-16. */
const isLetter = (byte: number) => isAscii(byte) || byte >= 0xa0

const isAscii = (byte: number) =>
  (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d

/** Below this the guess is worth nothing. */
const leastConfidence = 10

/** The coding of a text from before Unicode, as far as it can be told and written back. */
export async function detectLegacy(
  bytes: Buffer,
  isWhole = true,
): Promise<TextEncoding | undefined> {
  // From a little before the first byte that tells anything.
  const start = Math.max(0, bytes.findIndex((byte) => byte >= 0x80) - 1024)
  const sample = bytes.subarray(start, start + sampleBytes)
  if (bytes.length === 0 || bytes.includes(0) || hasControls(sample)) return undefined
  const [{ analyse }, iconv] = await Promise.all([import('chardet'), loadIconv()])
  const guesses = analyse(sample).filter(({ confidence }) => confidence >= leastConfidence)
  for (const { name } of guesses) {
    const encoding = webName(name)
    if (encoding === undefined || !iconv.encodingExists(encoding)) continue
    // A character may be torn at the end of the sample.
    const text = decodedFatally(sample, encoding, isWhole && start + sample.length === bytes.length)
    if (text !== undefined && !strange.test(text)) return { encoding, mark: noMark }
  }
  return isMostlyPlain(sample) ? western : undefined
}

/** Too short to tell by: the most usual one. */
const western: TextEncoding = { encoding: 'windows-1252', mark: noMark }

function isMostlyPlain(bytes: Buffer): boolean {
  const high = bytes.reduce((count, byte) => count + Number(byte >= 0x80), 0)
  const text = decodedFatally(bytes, western.encoding, true)
  return high * 3 <= bytes.length && text !== undefined && !strange.test(text)
}

const loadIconv = async () => (await import('iconv-lite')).default

/** More than one control in fifty bytes is no text; escapes and form feeds happen. */
function hasControls(bytes: Buffer): boolean {
  let found = 0
  for (const byte of bytes)
    if (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) found++
  return found * 50 > bytes.length
}

function webName(name: string): string | undefined {
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

/** The text without its mark; what cannot be read becomes U+FFFD. */
export function decode(bytes: Buffer, { encoding, mark }: TextEncoding): string {
  const body = bytes.subarray(0, mark.length).equals(mark) ? bytes.subarray(mark.length) : bytes
  return encoding === 'utf-8'
    ? body.toString('utf8')
    : new TextDecoder(encoding, { ignoreBOM: true }).decode(body)
}

/** Bytes that read as this very text again; a character that the encoding has not is refused, never replaced. */
export async function encode(text: string, coding: TextEncoding): Promise<Buffer> {
  const iconv = coding.encoding === 'utf-8' ? undefined : await loadIconv()
  const body = iconv ? iconv.encode(text, coding.encoding, { addBOM: false }) : Buffer.from(text)
  const bytes = coding.mark.length === 0 ? body : Buffer.concat([coding.mark, body])
  // UTF-8 has every character there is; only half of one gets lost.
  if (iconv ? decode(bytes, coding) === text : text.isWellFormed()) return bytes
  throw new FileError(
    'not_text',
    iconv
      ? `The file is in ${coding.encoding}, which has not all characters of the text.`
      : 'The text holds half of a character. Give it whole.',
  )
}

/** The coding that a caller names. UTF-16 gets its mark, since without one nobody can tell. */
export async function getEncoding(name: string): Promise<TextEncoding> {
  const encoding = webName(name)
  if (encoding === undefined || !(await loadIconv()).encodingExists(encoding))
    throw new FileError('unknown_encoding', 'That encoding is not known here. Use utf-8.')
  if (encoding === 'utf-8') return utf8
  return marked.find((coding) => coding.encoding === encoding) ?? { encoding, mark: noMark }
}

/** Beyond this nobody reads a diff, and it would take long to make and to send. */
const limits = { maxCompared: 8_000_000, maxShown: 100_000 }

/** What differs, nothing where nothing does; undefined where lines cannot show it, or it is too much. */
export function textDiff(from: string, to: string, name: string, other = name): string | undefined {
  if (from === to) return ''
  // A name stands in a line of its own, and may not make another.
  const sides = [
    { name: sanitizeText(name), text: from },
    { name: sanitizeText(other), text: to },
  ] as const
  return unifiedDiff(...sides, limits) || undefined
}

export async function textOf(bytes: Buffer): Promise<string | undefined> {
  const coding = await detectEncoding(bytes)
  return coding && decode(bytes, coding)
}
