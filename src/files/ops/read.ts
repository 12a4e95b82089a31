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

type Yield = () => Promise<void>
type ReadState = {
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
  const type = await detectFileType(name, start, Number(file.stat.size) === start.length)
  const yieldNow = () => yieldOrCancel(context, cancelled)
  const reading = { ask, file, start }
  checkSize(context, reading, name, type)
  const content = await buildContent(reading, type, yieldNow)
  const stat = toStat(file.stat)
  return { stat, mime: type.mime, sensitive: context.guard.isSensitive(absolute), ...content }
}

type DetectedType = FileType & { readonly coding?: TextEncoding }

async function detectFileType(
  name: string,
  start: Buffer,
  isWhole: boolean,
): Promise<DetectedType> {
  const unicode = isPdf(start)
    ? undefined
    : (detectUnicode(start, isWhole) ?? detectOddLengthUtf16(start, isWhole))
  if (unicode) return { kind: 'text', mime: await textMime(name), coding: unicode }
  const type = await detectType(start, name)
  if (type) return type
  const coding = await detectLegacy(start, isWhole)
  return coding ? { kind: 'text', mime: await textMime(name), coding } : typeByName(name)
}

/** Treats a half code unit at the end of UTF-16 as missing; the rest is text. */
function detectOddLengthUtf16(bytes: Buffer, isWhole: boolean): TextEncoding | undefined {
  if (!isWhole || bytes.length % 2 === 0) return undefined
  const coding = detectUnicode(bytes.subarray(0, -1))
  return coding?.encoding.startsWith('utf-16') ? coding : undefined
}

/** A larger file is read by ranges (F4); the text of a document is extracted from the whole file only. */
function checkSize(
  { limits }: OpContext,
  { ask, file, start }: ReadState,
  name: string,
  { kind, mime }: FileType,
): void {
  const isExtracted = hasExtractableText(mime) && !ask.raw
  const isText = kind === 'text' || isExtracted
  const maxBytes = isText
    ? limits.maxFileBytes
    : Math.min(limits.maxBinaryReadBytes, ask.maxBinaryBytes ?? Infinity)
  const isWhole = ask.range === undefined || isExtracted
  const { size } = file.stat
  if (isWhole && size > BigInt(maxBytes))
    throw new FileError(
      'too_large',
      isExtracted
        ? `The document has ${size} bytes; the limit for text extraction is ${maxBytes}.`
        : `The file has ${size} bytes; one read returns at most ${maxBytes}. Read it in parts: byte_from 0, max_bytes ${maxBytes}.`,
      ask.at.path,
    )
  if (isWhole && isCloudPlaceholder(name, file.stat, () => start))
    throw cloudPlaceholderError(ask.at.path)
}

type Content = Omit<OpResponse<'read'>, 'stat' | 'mime' | 'sensitive'>

async function buildContent(
  reading: ReadState,
  type: DetectedType,
  yieldNow: Yield,
): Promise<Content> {
  const { ask } = reading
  if (type.coding && !ask.raw) return buildTextContent(reading, type.coding, yieldNow)
  if (type.kind === 'document' && hasExtractableText(type.mime) && !ask.raw)
    return buildDocumentContent(reading, type.mime, yieldNow)
  // Pictures are returned whole within the binary limit, unless a byte range is requested.
  const isPartial = ask.raw || ask.range !== undefined || type.kind === 'binary'
  const kind = type.kind === 'text' ? 'binary' : type.kind
  return {
    kind,
    encoding: 'binary',
    ...buildBytesContent(reading, isPartial ? ask.maxBytes : Infinity),
  }
}

function buildBytesContent({ ask, file, start }: ReadState, maxBytes: number) {
  const { range } = ask
  if (range && range.by !== 'bytes')
    throw new FileError('not_text', 'Not a text file: only text can be read by lines.', ask.at.path)
  const size = Number(file.stat.size)
  const from = Math.min(range?.from ?? 0, size)
  const to = Math.min(range?.to ?? size, size, from + maxBytes)
  const isStart = to <= start.length
  const body = isStart ? start.subarray(from, to) : readAt(file.fd, from, Math.max(0, to - from))
  const end = from + body.length
  return {
    body,
    ...(end < size && { next: end }),
    ...(body.length === size && { sha256: sha256Hex(body) }),
  }
}

async function buildTextContent(
  reading: ReadState,
  sampled: TextEncoding,
  yieldNow: Yield,
): Promise<Content> {
  const { ask, file, start } = reading
  const size = Number(file.stat.size)
  const isAll = start.length === size
  const read = (position: number, length: number) =>
    isAll ? start.subarray(position, position + length) : readAt(file.fd, position, length)
  // A half code unit at the end of UTF-16 is dropped.
  const textSize = sampled.encoding.startsWith('utf-16') ? size - (size % 2) : size
  const source = { size: textSize, coding: sampled, read }
  const first = await selectPart(source, ask, yieldNow)
  const legacy = isAll || sampled !== utf8 ? undefined : await detectLegacyPart(source, first)
  const coding = legacy ?? sampled
  const part = legacy ? await selectPart({ ...source, coding }, ask, yieldNow) : first
  const isWhole = part.from === 0 && part.bytes.length === size
  return {
    kind: 'text',
    encoding: coding.encoding,
    body: toUtf8(part, coding),
    ...toRangeInfo(part),
    ...(isWhole && { sha256: sha256Hex(part.bytes) }),
  }
}

/** Detects a legacy encoding in a part after an ASCII-only sample. */
async function detectLegacyPart(
  { size, read }: Source,
  part: SelectedPart,
): Promise<TextEncoding | undefined> {
  if (isUtf8(part.bytes)) return undefined
  // A guess from a few characters could differ for the next part.
  const isLargeSample = part.bytes.length >= sampleBytes
  const sampleStart = Math.max(0, Math.min(part.from, size - sampleBytes))
  return detectLegacy(isLargeSample ? part.bytes : read(sampleStart, sampleBytes), false)
}

async function buildDocumentContent(
  reading: ReadState,
  mime: string,
  yieldNow: Yield,
): Promise<Content> {
  const bytes = readAt(reading.file.fd, 0, Number(reading.file.stat.size))
  const text = Buffer.from(await extractText(bytes, mime, yieldNow))
  const read = (position: number, length: number) => text.subarray(position, position + length)
  const part = await selectPart({ size: text.length, coding: utf8, read }, reading.ask, yieldNow)
  return {
    kind: 'document',
    encoding: 'utf-8',
    body: part.bytes,
    extracted: true,
    sha256: sha256Hex(bytes),
    ...toRangeInfo(part),
  }
}

type SelectedPart = Lines & { readonly bytes: Buffer }

async function selectPart(
  source: Source,
  { range, maxBytes }: OpRequest<'read'>,
  yieldNow: Yield,
): Promise<SelectedPart> {
  if (range === undefined || range.by === 'bytes') return readRange(source, range, maxBytes)
  const lines = await readLines(source, range, maxBytes, yieldNow)
  return { ...lines, bytes: source.read(lines.from, lines.to - lines.from) }
}

type LineRange = Exclude<Range, { readonly by: 'bytes' }>

function readLines(
  source: Source,
  range: LineRange,
  maxBytes: number,
  yieldNow: Yield,
): Promise<Lines> {
  if (!('lines' in range))
    return linesBetween(source, { first: range.from, last: range.to, maxBytes }, yieldNow)
  return range.by === 'head'
    ? linesBetween(source, { first: 1, last: range.lines, maxBytes }, yieldNow)
    : lastLines(source, { count: range.lines, maxBytes }, yieldNow)
}

const toRangeInfo = ({ next, total, before }: SelectedPart) => ({
  ...(before !== undefined && { before }),
  ...(next !== undefined && { next }),
  ...(total !== undefined && { lines: total }),
})

function toUtf8({ from, bytes }: SelectedPart, coding: TextEncoding): Buffer {
  const text = from === 0 ? bytes.subarray(coding.mark.length) : bytes
  return coding.encoding === 'utf-8' && isUtf8(text)
    ? text
    : Buffer.from(decode(text, { ...coding, mark: utf8.mark }))
}
