import type { BigIntStats } from 'node:fs'
import { basename } from 'node:path/posix'
import { sha256Hex } from '#base/hash.ts'
import { FileError } from '../confine/file-error.ts'
import type { OpContext } from '../worker/context.ts'
import type { OpRequest, StoredVersion, Replaced } from '../worker/protocol.ts'
import { readAt } from './io.ts'
import { detectFormat, isPdf } from './file-type.ts'
import { isCloudPlaceholder, cloudPlaceholderError } from './regular-file.ts'

export type CurrentFile = {
  readonly stat: BigIntStats
  readonly bytes: Buffer
  readonly sha256: string
}

export type ChangeRequest = Pick<
  OpRequest<'write'>,
  'at' | 'writeMode' | 'reviewed' | 'expected' | 'backup'
> & {
  /** The mode of a restored file; by default the current mode, or that of a new file. */
  readonly mode?: number
}

export type ChangeResult = Omit<Replaced, 'diff'>

/** Builds the new content from the current file; undefined keeps the file unchanged. */
export type BuildContent = (
  current: CurrentFile | undefined,
) => Promise<Buffer | undefined> | Buffer | undefined

export function readCurrentFile(
  { limits }: OpContext,
  { fd, stat }: { fd: number; stat: BigIntStats },
  name: string,
  path: string,
): CurrentFile {
  if (stat.size > BigInt(limits.maxFileBytes)) throw tooLargeError(limits.maxFileBytes, path)
  const bytes = readAt(fd, 0, Number(stat.size))
  if (isCloudPlaceholder(name, stat, () => bytes)) throw cloudPlaceholderError(path)
  return { stat, bytes, sha256: sha256Hex(bytes) }
}

export async function buildNewContent(
  { limits }: OpContext,
  { expected, at: { path } }: ChangeRequest,
  current: CurrentFile | undefined,
  buildContent: BuildContent,
): Promise<Buffer | undefined> {
  if (expected !== undefined && !current?.sha256.startsWith(expected)) throw staleError(path)
  const bytes = await buildContent(current)
  if (bytes !== undefined && bytes.length > limits.maxFileBytes)
    throw tooLargeError(limits.maxFileBytes, path)
  return bytes
}

/** Refuses to write text over a document, a picture or an archive. */
export async function checkEditable(
  { bytes }: CurrentFile,
  path: string,
  text?: Buffer,
): Promise<void> {
  const format = await detectFormat(bytes, basename(path))
  // A PDF written as text may be replaced by another.
  if (format === undefined || (text && isPdf(text) && isPdf(bytes))) return
  throw new FileError('not_text', `Cannot edit files of type ${format}.`, path)
}

export const permissionBits = (stat: BigIntStats): number => Number(stat.mode) & 0o777

export const toVersion = ({ sha256, bytes, stat }: CurrentFile): StoredVersion => ({
  sha256,
  size: bytes.length,
  mode: permissionBits(stat),
})

export const staleError = (path: string): FileError =>
  new FileError('stale', 'The file was changed by another program. Nothing was written.', path)

export const notFoundError = (path: string): FileError =>
  new FileError('not_found', 'Not found.', path)

export const existsError = (path?: string): FileError =>
  new FileError('exists', 'Already exists.', path)

export const tooLargeError = (maxBytes: number, path: string): FileError =>
  new FileError(
    'too_large',
    `The file is larger than ${maxBytes} bytes, the limit for writes and copies.`,
    path,
  )
