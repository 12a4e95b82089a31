import { plainJson } from '#base/plain.ts'

/** A larger result is given in parts, each of at most so many bytes: clients cut longer answers (RA1). */
const maxPartBytes = 25_000

/** The result whole where it is small; else its handle and the part of its JSON that begins at `from`. */
export function partsOf(handle: string, result: unknown, from = 0) {
  const json = plainJson(result) ?? 'null'
  if (from === 0 && Buffer.byteLength(json) <= maxPartBytes) return { result }
  const start = isPairSplit(json, from) ? from - 1 : from
  const part = firstBytes(json.slice(start, start + maxPartBytes))
  const next = start + part.length
  return {
    result_handle: handle,
    result_part: part,
    result_length: json.length,
    ...(next < json.length && { next }),
  }
}

/** Decodes as a stream, which leaves out a character that is not complete. */
const firstBytes = (text: string): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    Buffer.from(text).subarray(0, maxPartBytes),
    { stream: true },
  )

const isPairSplit = (text: string, at: number): boolean =>
  /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, at - 1), at + 1))
