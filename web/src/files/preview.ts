import type { ReadFile } from './file.ts'

/** As much of a text as a preview asks for; a picture comes whole. */
export const maxPreviewBytes = 100_000

export type Preview =
  | { readonly kind: 'text'; readonly text: string; readonly isCut: boolean }
  | { readonly kind: 'picture'; readonly source: string }
  /** Not shown although it could be (PV5). */
  | { readonly kind: 'withheld' }
  | { readonly kind: 'none' }

/** Whatever a browser draws in an <img>, where no script of it can run. */
const drawn = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/

export function toPreview(read: ReadFile): Preview {
  const { content, encoding, mime } = read
  if (read.sensitive === true) return { kind: 'withheld' }
  if (content === undefined) return { kind: 'none' }
  if (encoding === 'base64')
    return drawn.test(mime)
      ? { kind: 'picture', source: `data:${mime};base64,${content}` }
      : { kind: 'none' }
  const isCut = read.next_byte !== undefined
  if (mime === 'image/svg+xml' && !isCut)
    return { kind: 'picture', source: `data:${mime};charset=utf-8,${encodeURIComponent(content)}` }
  return { kind: 'text', text: content, isCut }
}
