/** Detects the type of a file that is not plain text, by its content first and its name second. */
import type { Ops } from '../worker/protocol.ts'
import { sampleBytes, detectUnicode } from './encoding.ts'

type Kind = Ops['read']['answer']['kind']
export type FileType = { readonly kind: Kind; readonly mime: string }

const wordMime = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

export const hasExtractableText = (mime: string): boolean =>
  mime === 'application/pdf' || mime === wordMime
export const isWord = (mime: string): boolean => mime === wordMime

/** A PDF can consist of ASCII only and is still a document. */
export const isPdf = (start: Buffer): boolean => start.subarray(0, 5).toString('latin1') === '%PDF-'

const zipMagic = Buffer.from('PK\x03\x04')
const compoundFileMagic = Buffer.from([0xd0, 0xcf, 0x11, 0xe0])
/** The Office format before Office Open XML. */
export const isLegacyOffice = (start: Buffer): boolean =>
  start.subarray(0, 4).equals(compoundFileMagic)

/** Returns true if the file may be a document; other archives start with the same bytes. */
export function canBeDocument(start: Buffer): boolean {
  return isPdf(start) || isLegacyOffice(start) || start.subarray(0, 4).equals(zipMagic)
}

export async function detectType(start: Buffer, name: string): Promise<FileType | undefined> {
  if (isPdf(start)) return { kind: 'document', mime: 'application/pdf' }
  const { fileTypeFromBuffer } = await import('file-type')
  const detected = await fileTypeFromBuffer(start).catch(() => undefined)
  if (!detected) return undefined
  // An office document is a ZIP archive; the start of the file does not always show which one.
  const mime =
    detected.mime === 'application/zip'
      ? ((await mimeByName(name)) ?? detected.mime)
      : detected.mime
  return { kind: kindByMime(mime), mime }
}

/** Returns the format of a file that text would destroy: a document, a picture, an archive. */
export async function detectFormat(bytes: Buffer, name: string): Promise<string | undefined> {
  const start = bytes.subarray(0, sampleBytes)
  const isText = !isPdf(start) && detectUnicode(start, start.length === bytes.length) !== undefined
  return isText ? undefined : (await detectType(start, name))?.mime
}

export async function typeByName(name: string): Promise<FileType> {
  const mime = (await mimeByName(name)) ?? 'application/octet-stream'
  // The content did not match a known type.
  return { kind: 'binary', mime: kindByMime(mime) === 'binary' ? mime : 'application/octet-stream' }
}

/** The MIME type of a text file, so that `.ts` is not reported as a video. */
export async function textMime(name: string): Promise<string> {
  const mime = await mimeByName(name)
  return mime !== undefined && textMimePattern.test(mime) ? mime : 'text/plain'
}

const textMimePattern = /^text\/|[/+](?:json|xml|yaml|toml|javascript|sql|rtf)$/

async function mimeByName(name: string): Promise<string | undefined> {
  return (await import('mime')).default.getType(name) ?? undefined
}

function kindByMime(mime: string): Kind {
  if (mime.startsWith('image/')) return 'image'
  if (mime.startsWith('audio/')) return 'audio'
  return hasExtractableText(mime) || officeMimePattern.test(mime) ? 'document' : 'binary'
}

const officeMimePattern =
  /^application\/(?:vnd\.(?:openxmlformats-officedocument|oasis\.opendocument|ms-)|msword)/
