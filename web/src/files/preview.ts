import type { ReadFile } from './file.ts'

/** The limit for text; pictures are read in full. */
export const maxPreviewBytes = 100_000

export type Preview =
  | { readonly kind: 'text'; readonly text: string; readonly isCut: boolean }
  | { readonly kind: 'picture'; readonly source: string }
  /** A sensitive file (PV5). */
  | { readonly kind: 'withheld' }
  | { readonly kind: 'none' }

/** Types that a browser renders in an <img>, where scripts cannot run. */
const pictureTypes = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/

export function toPreview(read: ReadFile): Preview {
  const { content, encoding, mime } = read
  if (read.sensitive === true) return { kind: 'withheld' }
  if (content === undefined) return { kind: 'none' }
  if (encoding === 'base64')
    return pictureTypes.test(mime)
      ? { kind: 'picture', source: `data:${mime};base64,${content}` }
      : { kind: 'none' }
  const isCut = read.next_byte !== undefined
  if (mime === 'image/svg+xml' && !isCut)
    return { kind: 'picture', source: `data:${mime};charset=utf-8,${encodeURIComponent(content)}` }
  return { kind: 'text', text: content, isCut }
}
