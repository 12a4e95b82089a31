import { isUtf8 } from 'node:buffer'
import { basename } from 'node:path/posix'
import { sha256Hex } from '#base/hash.ts'
import { toStat } from '../confine/access-checks.ts'
import { FileError } from '../confine/file-error.ts'
import type { OpenedFile } from '../confine/types.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { OpResponse, OpRequest, Range } from '../worker/protocol.ts'
import { closing, yieldOrCancel, readAt, getRoot } from './io.ts'
import { extractText } from './documents.ts'
import { hasExtractableText, isPdf, textMime, detectType, typeByName } from './file-type.ts'
import type { FileType } from './file-type.ts'
import { isCloudPlaceholder, cloudPlaceholderError } from './regular-file.ts'
import { lastLines, linesBetween } from './lines.ts'
import type { Lines, Source } from './lines.ts'
import { readRange } from './byte-range.ts'
import { decode, detectLegacy, sampleBytes, detectUnicode, utf8 } from './encoding.ts'
import type { TextEncoding } from './encoding.ts'

type Rest = () => Promise<void>
type Reading = {
  readonly ask: OpRequest<'read'>
  readonly file: OpenedFile
  readonly start: Buffer
}

export const read: RunOp<'read'> = async (context, ask, _body, cancelled) => {
  const confined = getRoot(context, ask.at)
  const file = confined.openFile(ask.at.path)
  using _ = closing(file.fd)
  const absolute = file.real === '' ? confined.root.path : `${confined.root.path}/${file.real}`
  const name = basename(absolute)
  const start = readAt(file.fd, 0, Math.min(Number(file.stat.size), sampleBytes))
  const type = await typeOf(name, start, Number(file.stat.size) === start.length)
  const rest = () => yieldOrCancel(context, cancelled)
  const reading = { ask, file, start }
  checkSize(context, reading, name, type)
  const content = await contentOf(reading, type, rest)
  const stat = toStat(file.stat)
  return { stat, mime: type.mime, sensitive: context.guard.isSensitive(absolute), ...content }
}

type Typed = FileType & { readonly coding?: TextEncoding }

async function typeOf(name: string, start: Buffer, isWhole: boolean): Promise<Typed> {
  const unicode = isPdf(start)
    ? undefined
    : (detectUnicode(start, isWhole) ?? oddUtf16(start, isWhole))
  if (unicode) return { kind: 'text', mime: await textMime(name), coding: unicode }
  const type = await detectType(start, name)
  if (type) return type
  const coding = await detectLegacy(start, isWhole)
  return coding ? { kind: 'text', mime: await textMime(name), coding } : typeByName(name)
}

/** A half character at the end of UTF-16 is none, and the rest is text all the same. */
function oddUtf16(bytes: Buffer, isWhole: boolean): TextEncoding | undefined {
  if (!isWhole || bytes.length % 2 === 0) return undefined
  const coding = detectUnicode(bytes.subarray(0, -1))
  return coding?.encoding.startsWith('utf-16') ? coding : undefined
}

/** What is too large for one piece is read by ranges (F4); the text of a document is taken whole or not at all. */
function checkSize(
  { limits }: OpContext,
  { ask, file, start }: Reading,
  name: string,
  { kind, mime }: FileType,
): void {
  const isExtracted = hasExtractableText(mime) && !ask.raw
  const isText = kind === 'text' || isExtracted
  const most = isText
    ? limits.maxFileBytes
    : Math.min(limits.maxBinaryReadBytes, ask.maxBinaryBytes ?? Infinity)
  const isWhole = ask.range === undefined || isExtracted
  const { size } = file.stat
  if (isWhole && size > BigInt(most))
    throw new FileError(
      'too_large',
      isExtracted
        ? `The document has ${size} bytes; text is taken out of up to ${most}.`
        : `The file has ${size} bytes; ${most} are read at once. Read it in parts: byte_from 0, max_bytes ${most}.`,
      ask.at.path,
    )
  if (isWhole && isCloudPlaceholder(name, file.stat, () => start))
    throw cloudPlaceholderError(ask.at.path)
}

type Content = Omit<OpResponse<'read'>, 'stat' | 'mime' | 'sensitive'>

async function contentOf(reading: Reading, type: Typed, rest: Rest): Promise<Content> {
  const { ask } = reading
  if (type.coding && !ask.raw) return textContent(reading, type.coding, rest)
  if (type.kind === 'document' && hasExtractableText(type.mime) && !ask.raw)
    return documentContent(reading, type.mime, rest)
  // Pictures come whole, within the limit for binary files, unless a range of bytes is asked for.
  const isPiece = ask.raw || ask.range !== undefined || type.kind === 'binary'
  const kind = type.kind === 'text' ? 'binary' : type.kind
  return { kind, encoding: 'binary', ...bytesContent(reading, isPiece ? ask.maxBytes : Infinity) }
}

function bytesContent({ ask, file, start }: Reading, most: number) {
  const { range } = ask
  if (range && range.by !== 'bytes')
    throw new FileError('not_text', 'Only text has lines.', ask.at.path)
  const size = Number(file.stat.size)
  const from = Math.min(range?.from ?? 0, size)
  const to = Math.min(range?.to ?? size, size, from + most)
  const isStart = to <= start.length
  const body = isStart ? start.subarray(from, to) : readAt(file.fd, from, Math.max(0, to - from))
  const end = from + body.length
  return {
    body,
    ...(end < size && { next: end }),
    ...(body.length === size && { sha256: sha256Hex(body) }),
  }
}

async function textContent(reading: Reading, sampled: TextEncoding, rest: Rest): Promise<Content> {
  const { ask, file, start } = reading
  const size = Number(file.stat.size)
  const isAll = start.length === size
  const read = (position: number, length: number) =>
    isAll ? start.subarray(position, position + length) : readAt(file.fd, position, length)
  // A half character at the end of UTF-16 is none.
  const even = sampled.encoding.startsWith('utf-16') ? size - (size % 2) : size
  const source = { size: even, coding: sampled, read }
  const first = await givenOf(source, ask, rest)
  const older = isAll || sampled !== utf8 ? undefined : await olderCoding(source, first)
  const coding = older ?? sampled
  const given = older ? await givenOf({ ...source, coding }, ask, rest) : first
  const isWhole = given.from === 0 && given.bytes.length === size
  return {
    kind: 'text',
    encoding: coding.encoding,
    body: asUtf8(given, coding),
    ...told(given),
    ...(isWhole && { sha256: sha256Hex(given.bytes) }),
  }
}

/** The sample may have been plain letters, and the rest in an old encoding. */
async function olderCoding(
  { size, read }: Source,
  given: Given,
): Promise<TextEncoding | undefined> {
  if (isUtf8(given.bytes)) return undefined
  // A guess from a few letters would not be the same for the next piece.
  const isMuch = given.bytes.length >= sampleBytes
  const around = Math.max(0, Math.min(given.from, size - sampleBytes))
  return detectLegacy(isMuch ? given.bytes : read(around, sampleBytes), false)
}

async function documentContent(reading: Reading, mime: string, rest: Rest): Promise<Content> {
  const bytes = readAt(reading.file.fd, 0, Number(reading.file.stat.size))
  const text = Buffer.from(await extractText(bytes, mime, rest))
  const read = (position: number, length: number) => text.subarray(position, position + length)
  const given = await givenOf({ size: text.length, coding: utf8, read }, reading.ask, rest)
  return {
    kind: 'document',
    encoding: 'utf-8',
    body: given.bytes,
    extracted: true,
    sha256: sha256Hex(bytes),
    ...told(given),
  }
}

type Given = Lines & { readonly bytes: Buffer }

async function givenOf(
  source: Source,
  { range, maxBytes }: OpRequest<'read'>,
  rest: Rest,
): Promise<Given> {
  if (range === undefined || range.by === 'bytes') return readRange(source, range, maxBytes)
  const lines = await linesOf(source, range, maxBytes, rest)
  return { ...lines, bytes: source.read(lines.from, lines.to - lines.from) }
}

type LineRange = Exclude<Range, { readonly by: 'bytes' }>

function linesOf(source: Source, range: LineRange, most: number, rest: Rest): Promise<Lines> {
  if (!('lines' in range))
    return linesBetween(source, { first: range.from, last: range.to, most }, rest)
  return range.by === 'head'
    ? linesBetween(source, { first: 1, last: range.lines, most }, rest)
    : lastLines(source, { count: range.lines, most }, rest)
}

const told = ({ next, total, before }: Given) => ({
  ...(before !== undefined && { before }),
  ...(next !== undefined && { next }),
  ...(total !== undefined && { lines: total }),
})

function asUtf8({ from, bytes }: Given, coding: TextEncoding): Buffer {
  const text = from === 0 ? bytes.subarray(coding.mark.length) : bytes
  return coding.encoding === 'utf-8' && isUtf8(text)
    ? text
    : Buffer.from(decode(text, { ...coding, mark: utf8.mark }))
}
