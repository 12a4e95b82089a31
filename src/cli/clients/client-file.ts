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

/** Applies splices whose offsets refer to the original text. */
export const applySplices = (text: string, splices: readonly Splice[]): string =>
  splices
    .toSorted((a, b) => b.at - a.at)
    .reduce(
      (rest, { at, removed, inserted }) =>
        rest.slice(0, at) + inserted + rest.slice(at + removed.length),
      text,
    )

/** Builds the error for a file that cannot be parsed. The file is not changed. */
export function syntaxError({ file, text }: Source, offset: number, reason: string): CoworkError {
  const before = text.slice(0, offset).split('\n')
  const place = `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
  return new CoworkError('client_config_broken', `${place}: ${reason}. The file was not changed.`, {
    hint: 'Correct the file in an editor, or name another file with --config-file, then try again.',
  })
}

export const detectLineEnding = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/** True for text without content; it may have a byte order mark. */
export const isBlank = (text: string): boolean => /^\uFEFF?\s*$/.test(text)

export type ClientFile = Source & {
  readonly exists: boolean
  /** Target of symlinks: a rename must not replace a symlink, for example of dotfiles. */
  readonly target: string
  readonly mode: number
}

const maxFileBytes = 16 * 1024 * 1024

/** Reads a file to change; refuses a file that cannot be restored exactly. */
export function readClientFile(file: string): ClientFile {
  const refuse = (reason: string, hint: string, cause?: unknown) =>
    new CoworkError('client_config_unusable', `${file} ${reason}. The file was not changed.`, {
      hint,
      cause,
    })
  const about = statSync(file, { throwIfNoEntry: false })
  if (!about) {
    if (lstatSync(file, { throwIfNoEntry: false }))
      throw refuse('is a broken symbolic link', 'Create its target, or remove the link.')
    return { file, text: '', exists: false, target: file, mode: 0o600 }
  }
  if (!about.isFile()) throw refuse('is not a file', 'Move it away, or name another file.')
  if (about.size > maxFileBytes)
    throw refuse(`is larger than ${maxFileBytes} bytes`, 'Make it smaller, or name another file.')
  // A rename would succeed on a read-only file, so refuse it here.
  if ((about.mode & 0o200) === 0)
    throw refuse('is read-only', `Allow writing with \`chmod u+w ${file}\`, then try again.`)
  try {
    const bytes = readFileSync(file)
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { file, text, exists: true, target: realpathSync(file), mode: about.mode & 0o777 }
  } catch (cause) {
    throw refuse(
      cause instanceof TypeError ? 'is not UTF-8 text' : `cannot be read: ${errorMessage(cause)}`,
      'Check the file and its permissions.',
      cause,
    )
  }
}

/** Replaces the content atomically. With a time, first copies the old file beside it; returns the copy's path. */
export function writeClientFile(
  before: ClientFile,
  text: string,
  now?: number,
): string | undefined {
  const { file, target, mode, exists } = before
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    if (readClientFile(file).text !== before.text) throw changedError(file)
    const backup = exists && now !== undefined ? backUp(target, now) : undefined
    writeFileAtomic(target, text, mode)
    chmodSync(target, mode)
    return backup
  } catch (cause) {
    throw cause instanceof CoworkError ? cause : unwritableError(file, cause)
  }
}

/** Removes a file that `connect` created. */
export function removeClientFile({ file, target, text }: ClientFile): void {
  if (readClientFile(file).text !== text) throw changedError(file)
  rmSync(target)
}

function backUp(target: string, now: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[-:.]/g, '')
  const copy = `${target}.cowork-${stamp}.bak`
  copyFileSync(target, copy, constants.COPYFILE_EXCL)
  return copy
}

const changedError = (file: string) =>
  new CoworkError('client_config_changed', `${file} was changed by another program.`, {
    hint: 'Try again. Nothing was written.',
  })

const unwritableError = (file: string, cause: unknown) =>
  new CoworkError('client_config_unusable', `Cannot write ${file}: ${errorMessage(cause)}.`, {
    hint: 'Check the permissions and the free disk space. The file was not changed.',
    cause,
  })
