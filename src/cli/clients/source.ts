import { CoworkError } from '#base/errors.ts'

/** A file of a client as it was read. */
export type Source = { readonly file: string; readonly text: string }

/** One replaced stretch of a text. */
export type Splice = { readonly at: number; readonly removed: string; readonly inserted: string }

/** The text after splices that were all found in this one. */
export const spliced = (text: string, splices: readonly Splice[]): string =>
  splices
    .toSorted((a, b) => b.at - a.at)
    .reduce(
      (rest, { at, removed, inserted }) =>
        rest.slice(0, at) + inserted + rest.slice(at + removed.length),
      text,
    )

/** What a file cannot be changed for. It stays as it was. */
export function brokenAt({ file, text }: Source, offset: number, what: string): CoworkError {
  const before = text.slice(0, offset).split('\n')
  const place = `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
  return new CoworkError('client_config_broken', `${place}: ${what}. The file was left as it is.`, {
    hint: 'Correct it in an editor, or name another file with --config-file, then try again.',
  })
}

export const lineEndOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/** A text without any content, save perhaps a byte order mark. */
export const isBlank = (text: string): boolean => /^\uFEFF?\s*$/.test(text)
