/** What a file is that is no plain text, by its content first and its name second. */
import type { Ops } from '../worker/protocol.ts'
import { sampleBytes, detectUnicode } from './encoding.ts'

type Kind = Ops['read']['answer']['kind']
export type FileType = { readonly kind: Kind; readonly mime: string }

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

export const hasExtractableText = (mime: string): boolean =>
  mime === 'application/pdf' || mime === word
export const isWord = (mime: string): boolean => mime === word

/** A PDF may be plain letters from end to end, and is a document all the same. */
export const isPdf = (start: Buffer): boolean => start.subarray(0, 5).toString('latin1') === '%PDF-'

const packed = Buffer.from('PK\x03\x04')
const compound = Buffer.from([0xd0, 0xcf, 0x11, 0xe0])
/** What Office wrote before it packed its documents. */
export const isLegacyOffice = (start: Buffer): boolean => start.subarray(0, 4).equals(compound)

/** Whether it may be a document, and is no text in any case; other archives begin so, too. */
export function canBeDocument(start: Buffer): boolean {
  return isPdf(start) || isLegacyOffice(start) || start.subarray(0, 4).equals(packed)
}

export async function detectType(start: Buffer, name: string): Promise<FileType | undefined> {
  if (isPdf(start)) return { kind: 'document', mime: 'application/pdf' }
  const { fileTypeFromBuffer } = await import('file-type')
  const found = await fileTypeFromBuffer(start).catch(() => undefined)
  if (!found) return undefined
  // An office document is an archive; which one is not always said at its start.
  const mime =
    found.mime === 'application/zip' ? ((await mimeByName(name)) ?? found.mime) : found.mime
  return { kind: kindOf(mime), mime }
}

/** The format of a file that text would destroy: a document, a picture, an archive. */
export async function detectFormat(bytes: Buffer, name: string): Promise<string | undefined> {
  const start = bytes.subarray(0, sampleBytes)
  const isText = !isPdf(start) && detectUnicode(start, start.length === bytes.length) !== undefined
  return isText ? undefined : (await detectType(start, name))?.mime
}

export async function typeByName(name: string): Promise<FileType> {
  const mime = (await mimeByName(name)) ?? 'application/octet-stream'
  // Its content did not show any of those.
  return { kind: 'binary', mime: kindOf(mime) === 'binary' ? mime : 'application/octet-stream' }
}

/** Of what is known to be text: never the film that `.ts` stands for elsewhere. */
export async function textMime(name: string): Promise<string> {
  const mime = await mimeByName(name)
  return mime !== undefined && textual.test(mime) ? mime : 'text/plain'
}

const textual = /^text\/|[/+](?:json|xml|yaml|toml|javascript|sql|rtf)$/

async function mimeByName(name: string): Promise<string | undefined> {
  return (await import('mime')).default.getType(name) ?? undefined
}

function kindOf(mime: string): Kind {
  if (mime.startsWith('image/')) return 'image'
  if (mime.startsWith('audio/')) return 'audio'
  return hasExtractableText(mime) || office.test(mime) ? 'document' : 'binary'
}

const office =
  /^application\/(?:vnd\.(?:openxmlformats-officedocument|oasis\.opendocument|ms-)|msword)/
