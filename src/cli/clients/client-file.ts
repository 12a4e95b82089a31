import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'

export type Source = { readonly file: string; readonly text: string }

export type Splice = { readonly at: number; readonly removed: string; readonly inserted: string }

/** The text after splices that were all found in this one. */
export const applySplices = (text: string, splices: readonly Splice[]): string =>
  splices
    .toSorted((a, b) => b.at - a.at)
    .reduce(
      (rest, { at, removed, inserted }) =>
        rest.slice(0, at) + inserted + rest.slice(at + removed.length),
      text,
    )

/** What a file cannot be changed for. It stays as it was. */
export function syntaxError({ file, text }: Source, offset: number, what: string): CoworkError {
  const before = text.slice(0, offset).split('\n')
  const place = `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
  return new CoworkError('client_config_broken', `${place}: ${what}. The file was left as it is.`, {
    hint: 'Correct it in an editor, or name another file with --config-file, then try again.',
  })
}

export const detectLineEnding = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/** A text without any content, save perhaps a byte order mark. */
export const isBlank = (text: string): boolean => /^\uFEFF?\s*$/.test(text)

export type ClientFile = Source & {
  readonly exists: boolean
  /** What links lead to: a rename must not replace a link of somebody's dotfiles. */
  readonly target: string
  readonly mode: number
}

const largest = 16 * 1024 * 1024

/** Reads a file that we mean to change, and refuses what we could not give back as it was. */
export function readClientFile(file: string): ClientFile {
  const refuse = (why: string, hint: string, cause?: unknown) =>
    new CoworkError('client_config_unusable', `${file} ${why}. It was left as it is.`, {
      hint,
      cause,
    })
  const about = statSync(file, { throwIfNoEntry: false })
  if (!about) {
    if (lstatSync(file, { throwIfNoEntry: false }))
      throw refuse('is a link to nothing', 'Make what it points to, or remove the link.')
    return { file, text: '', exists: false, target: file, mode: 0o600 }
  }
  if (!about.isFile()) throw refuse('is not a file', 'Move it away, or name another file.')
  if (about.size > largest)
    throw refuse(`is larger than ${largest} bytes`, 'Make it smaller, or name another file.')
  // Renaming over it would work all the same, so nobody else would respect this.
  if ((about.mode & 0o200) === 0)
    throw refuse('is read-only', `Allow writing with \`chmod u+w ${file}\`, then try again.`)
  try {
    const bytes = readFileSync(file)
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { file, text, exists: true, target: realpathSync(file), mode: about.mode & 0o777 }
  } catch (cause) {
    throw refuse(
      cause instanceof TypeError
        ? 'is not text in UTF-8'
        : `cannot be read: ${errorMessage(cause)}`,
      'Check what it is and who may read it.',
      cause,
    )
  }
}

/** Replaces its content, whole or not at all. With a time, a copy of the old one is kept beside it; gives its name. */
export function writeClientFile(
  before: ClientFile,
  text: string,
  now?: number,
): string | undefined {
  const { file, target, mode, exists } = before
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    if (readClientFile(file).text !== before.text) throw changed(file)
    const backup = exists && now !== undefined ? backUp(target, now) : undefined
    writeFileAtomic(target, text, mode)
    chmodSync(target, mode)
    return backup
  } catch (cause) {
    throw cause instanceof CoworkError ? cause : unwritable(file, cause)
  }
}

/** For a file that was ours from the start. */
export function removeClientFile({ file, target, text }: ClientFile): void {
  if (readClientFile(file).text !== text) throw changed(file)
  rmSync(target)
}

function backUp(target: string, now: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[-:.]/g, '')
  const copy = `${target}.cowork-${stamp}.bak`
  copyFileSync(target, copy, constants.COPYFILE_EXCL)
  return copy
}

const changed = (file: string) =>
  new CoworkError('client_config_changed', `${file} was changed by another program meanwhile.`, {
    hint: 'Nothing was written. Try again.',
  })

const unwritable = (file: string, cause: unknown) =>
  new CoworkError('client_config_unusable', `${file} cannot be written: ${errorMessage(cause)}.`, {
    hint: 'It was left as it is. Check who may write there, and whether the disk is full.',
    cause,
  })
